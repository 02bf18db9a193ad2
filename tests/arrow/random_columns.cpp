// SPDX-License-Identifier: Apache-2.0
#include "arrow/random_columns.hpp"

#include <array>
#include <optional>
#include <vector>

#include "sluice/element/slice.hpp"

namespace sluice::lib::test {

// Not of an anonymous namespace: clang 19 refuses an optional of such a type as a first member.
namespace random_members {

enum class colour : std::uint8_t { red, green };

struct point {
  float x = 0;
  std::optional<std::string> name;
};

struct nested {
  std::optional<point> at;
  std::vector<point> path;
  bool flag = false;
};

}  // namespace random_members

namespace {

using namespace random_members;

/// What is not made of other types below: optionals and lists are those that C++ has made.
const std::vector<const element_type*>& leaves() {
  static const std::vector<const element_type*> all = {
      &type_of<std::int8_t>(),
      &type_of<std::uint8_t>(),
      &type_of<std::int16_t>(),
      &type_of<std::uint16_t>(),
      &type_of<std::int32_t>(),
      &type_of<std::uint32_t>(),
      &type_of<std::int64_t>(),
      &type_of<std::uint64_t>(),
      &type_of<float>(),
      &type_of<double>(),
      &type_of<bool>(),
      &type_of<colour>(),
      &type_of<std::string>(),
      &type_of<record>(),
      &type_of<line>(),
      &type_of<point>(),
      &type_of<nested>(),
      &type_of<std::optional<std::int32_t>>(),
      &type_of<std::optional<bool>>(),
      &type_of<std::optional<std::string>>(),
      &type_of<std::optional<record>>(),
      &type_of<std::optional<point>>(),
      &type_of<std::optional<nested>>(),
      &type_of<std::optional<std::vector<std::string>>>(),
      &type_of<std::optional<std::array<std::int16_t, 3>>>(),
      &type_of<std::optional<std::array<bool, 5>>>(),
      &type_of<std::optional<std::array<std::optional<double>, 2>>>(),
      &type_of<std::optional<std::pair<std::string, std::uint8_t>>>(),
      &type_of<std::vector<std::int64_t>>(),
      &type_of<std::vector<std::string>>(),
      &type_of<std::vector<std::vector<float>>>(),
      &type_of<std::vector<std::optional<std::int64_t>>>(),
      &type_of<std::vector<nested>>(),
      &type_of<std::vector<std::array<bool, 2>>>(),
      &type_of<batched<bool>>(),
      &type_of<batched<point>>(),
      &type_of<batched<std::optional<std::int32_t>>>(),
      &type_of<std::optional<batched<nested>>>(),
  };
  return all;
}

}  // namespace

std::size_t random_columns::below(std::size_t n) {
  state_ = state_ * 6364136223846793005u + 1442695040888963407u;
  return static_cast<std::size_t>(state_ >> 33) % n;
}

std::string random_columns::text(bool is_utf8) {
  static constexpr const char* characters[] = {"a", "z", " ", "\n", "\"", "ä", "→", "𝄞", "é", "0"};
  std::string t;
  for (std::size_t n = below(3) ? below(9) : 0; n != 0; --n) {
    if (is_utf8) t += characters[below(10)];
    else t += static_cast<char>(below(256));
  }
  return t;
}

const element_type* random_columns::some_struct(std::size_t depth) {
  std::vector<member> members;
  std::string name = "random";
  std::size_t n = 1 + below(5);
  for (std::size_t k = 0; k != n; ++k) {
    members.push_back({.name = "m" + std::to_string(k), .type = any_type(depth + 1)});
    name += "_" + members.back().type->name;
  }
  return struct_of(name, members);
}

const element_type* random_columns::any_type(std::size_t depth) {
  std::size_t what = below(depth > 2 ? 12 : 18);
  switch (what) {
    case 12: return some_struct(depth);
    case 13: return array_of(any_type(depth + 1), 1 + below(3));
    case 14: return pair_of(any_type(depth + 1), any_type(depth + 1));
    case 15: return tuple_of({any_type(depth + 1), any_type(depth + 1), any_type(depth + 1)});
    case 16: return batched_of(any_type(depth + 1));
    case 17: return array_of(&type_of<bool>(), 1 + below(9));
    default: return leaves()[below(leaves().size())];
  }
}

const element_type& random_columns::row_type() { return below(3) ? *some_struct(0) : *any_type(0); }

void random_columns::fill(column& c, std::size_t n) {
  const element_type& t = c.type();
  switch (c.form()) {
    case column_form::values:
      for (; n != 0; --n) {
        std::uint64_t bits = below(3) ? below(100) : state_;
        if (t.print == type_of<bool>().print) c.append_value(below(2) != 0);
        else if (&t == &type_of<float>()) c.append_value(static_cast<float>(below(1000)) / 8 - 50);
        else if (&t == &type_of<double>()) c.append_value(static_cast<double>(below(1000)) / 8 - 50);
        else c.append_value(&bits);  // the low bytes
      }
      return;
    case column_form::texts:
      for (; n != 0; --n) c.append_text(text(&t == &type_of<std::string>() || t.name == "line"));
      return;
    case column_form::lists:
      for (; n != 0; --n) {
        fill(c.child(0), below(2) ? below(5) : 0);
        c.append_list();
      }
      return;
    case column_form::maybe:
      for (; n != 0; --n) {
        bool valid = below(4) != 0;
        if (valid) fill(c.child(0), 1);
        c.append_valid(valid);
      }
      return;
    case column_form::fixed: fill(c.child(0), n * t.extent); break;
    default:
      for (std::size_t k = 0; k != c.children(); ++k) fill(c.child(k), n);
  }
  for (; n != 0; --n) c.append_row();
}

batch_storage random_columns::batch(const element_type& row) {
  batch_storage b;
  if (below(20) == 0) return b;
  std::size_t n = below(8) ? below(12) : below(70);
  fill(b.make_rows(row), n);
  if (below(2)) b.drop_front(below(n + 1));
  return b;
}

std::string json_of(const batch_storage& b, const element_type& row) {
  std::string out;
  print(*batched_of(&row), &b, out);
  return out;
}

}  // namespace sluice::lib::test
