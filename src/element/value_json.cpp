// SPDX-License-Identifier: Apache-2.0
// Values from JSON: the inverse of print (element/print.cpp and batch.cpp).
#include <charconv>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "element/build.hpp"
#include "element/json_tree.hpp"
#include "element/path.hpp"
#include "element/print.hpp"
#include "element/scalars.hpp"
#include "sluice/element/none.hpp"
#include "sluice/element/value.hpp"

namespace sluice::lib {

namespace {

using detail::json_tree;
using detail::path;

[[noreturn]] void refuse(const path& at, const std::string& what) {
  throw error(invalid_argument_error(at.prefix() + what));
}
[[noreturn]] void refuse_kind(const path& at, const element_type& t, const json_tree& j) {
  refuse(at, absl::StrCat("expected ", type_text(t), ", got ", j.shown()));
}
[[noreturn]] void refuse_type(const path& at, const element_type& t) {
  refuse(at, absl::StrCat(type_text(t), " cannot be read from JSON"));
}

// --- Numbers ---

template <class T> bool read_integer(const std::string& spelled, T& out) {
  auto* end = spelled.data() + spelled.size();
  auto read = std::from_chars(spelled.data(), end, out);
  if (read.ec == std::errc() && read.ptr == end) return true;
  if (spelled == "-0") return out = 0, true;
  // 1e3 and 2.0 are whole numbers too.
  double d = 0;
  read = std::from_chars(spelled.data(), end, d);
  if (read.ec != std::errc() || read.ptr != end) return false;
  constexpr double kExact = 9007199254740992.0;  // 2^53: doubles of more say nothing about what was meant
  if (!(d >= -kExact && d <= kExact) || d < static_cast<double>(std::numeric_limits<T>::min()) ||
      d > static_cast<double>(std::numeric_limits<T>::max()))
    return false;
  out = static_cast<T>(d);
  return static_cast<double>(out) == d;
}

template <class T> bool read_real(const json_tree& j, T& out) {
  using limits = std::numeric_limits<T>;
  if (j.kind == json_tree::string) {
    if (j.text == "NaN") out = limits::quiet_NaN();
    else if (j.text == "Infinity") out = limits::infinity();
    else if (j.text == "-Infinity") out = -limits::infinity();
    else return false;
    return true;
  }
  auto* end = j.text.data() + j.text.size();
  auto read = std::from_chars(j.text.data(), end, out);
  return j.kind == json_tree::number && read.ec == std::errc() && read.ptr == end;
}

void make_number(const element_type& t, void* to, const json_tree& j, const path& at) {
  detail::with_number(t, [&]<class T>(std::type_identity<T>) {
    T x{};
    bool ok = false;
    if constexpr (std::is_same_v<T, bool>) {
      ok = j.kind == json_tree::boolean;
      x = j.text == "true";
    } else if constexpr (std::is_floating_point_v<T>) {
      ok = read_real(j, x);
    } else {
      ok = j.kind == json_tree::number && read_integer(j.text, x);
    }
    if (!ok) refuse_kind(at, t, j);
    std::memcpy(to, &x, sizeof x);
  });
}

// --- Texts ---

std::string decoded(const std::string& base64, const path& at) {
  std::string bytes;
  if (!absl::Base64Unescape(base64, &bytes)) refuse(at, "this is no base64");
  return bytes;
}

void make_text(const element_type& t, void* to, const json_tree& j, const path& at) {
  if (j.kind == json_tree::string) return detail::make_text(t, to, j.text);
  if (j.kind != json_tree::object || j.names.size() != 1 || j.names[0] != "base64" ||
      j.items[0].kind != json_tree::string)
    refuse_kind(at, t, j);
  detail::make_text(t, to, decoded(j.items[0].text, at));
}

/// A member's name as it stands in JSON.
std::string json_name(const std::string& name) {
  std::string quoted;
  print_json_name(name, quoted);
  bool is_plain = quoted.size() == name.size() + 2;  // no escape in it
  return is_plain || !quoted.starts_with("\"base64:") ? name : quoted.substr(1, quoted.size() - 2);
}

// --- Nests ---

std::string names_of(const element_type& t) {
  std::string out;
  for (auto& m : t.members) absl::StrAppend(&out, out.empty() ? "" : ", ", m.name);
  return out;
}

void make(const element_type& t, void* to, const json_tree& j, const path& at);

const std::vector<json_tree>& array_at(const element_type& t, const json_tree& j, const path& at) {
  if (j.kind != json_tree::array) refuse_kind(at, t, j);
  return j.items;
}

/// What stands for each member: of a structure by name, of a pair or tuple in its order. Null: a member is left out.
std::vector<const json_tree*> parts_of(const element_type& t, const json_tree& j, const path& at) {
  std::vector<const json_tree*> parts;
  if (t.kind != kind::structure) {
    auto& items = array_at(t, j, at);
    if (items.size() != t.members.size()) refuse(at, absl::StrCat("expected ", type_text(t), ", got ", j.shown()));
    for (auto& item : items) parts.push_back(&item);
    return parts;
  }
  if (j.kind != json_tree::object) refuse_kind(at, t, j);
  std::size_t found = 0;
  for (auto& m : t.members) {
    parts.push_back(j.find(json_name(m.name)));
    found += parts.back() != nullptr;
  }
  if (found == j.names.size()) return parts;
  for (auto& name : j.names) {
    bool known =
        std::any_of(t.members.begin(), t.members.end(), [&](const member& m) { return json_name(m.name) == name; });
    if (!known) refuse(at, absl::StrCat("there is no member ", name, " (there is ", names_of(t), ")"));
  }
  return parts;
}

void make_part(const element_type& t, std::size_t k, void* to, const json_tree* j, const path& at) {
  const member& m = t.members[k];
  if (j) return make(*m.type, to, *j, at.part(t, k));
  if (m.type->kind != kind::maybe) refuse(at, absl::StrCat("the member ", m.name, " is missing"));
  m.type->collect(*m.type, to, nullptr, 0, 0, m.type->element->size);
}

/// By column: {"label":[1,2],"text":["a","b"]}
void make_batch(const element_type& t, void* to, const json_tree& j, const path& at) {
  const element_type& row = *t.element;
  if (!row.stacks_by_member()) {
    auto& rows = array_at(t, j, at);
    return detail::make_batch(t, to, rows.size(), [&](std::size_t i, void* p) { make(row, p, rows[i], at.item(i)); });
  }
  auto columns = parts_of(row, j, at);
  std::size_t rows = 0;
  for (std::size_t k = 0; k != columns.size(); ++k) {
    path column = at.part(row, k);
    if (!columns[k]) refuse(at, absl::StrCat("the column ", row.members[k].name, " is missing"));
    if (columns[k]->kind != json_tree::array)
      refuse(column,
             absl::StrCat("expected a column of ", type_text(*row.members[k].type), ", got ", columns[k]->shown()));
    if (k == 0) rows = columns[k]->items.size();
    if (columns[k]->items.size() != rows)
      refuse(column, absl::StrCat("a column of ", columns[k]->items.size(), " rows, where the first one has ", rows));
  }
  detail::make_batch(t, to, rows, [&](std::size_t i, void* p) {
    detail::make_members(row, p, [&](std::size_t k, const element_type& m, void* part) {
      path column = at.part(row, k);
      make(m, part, columns[k]->items[i], column.item(i));
    });
  });
}

bool is_none(const element_type& t) { return &t == &type_of<none>(); }

bool prints_itself(const element_type& t) {
  if (is_none(t)) return false;
  switch (t.kind) {
    case kind::text: return t.print != detail::print_text;
    case kind::structure: return t.print != static_cast<decltype(t.print)>(detail::print_members);
    default: return false;
  }
}

void make(const element_type& t, void* to, const json_tree& j, const path& at) {
  if (prints_itself(t)) refuse_type(at, t);
  switch (t.kind) {
    case kind::scalar: return make_number(t, to, j, at);
    case kind::text: return make_text(t, to, j, at);
    case kind::array: {
      auto& items = array_at(t, j, at);
      if (items.size() != t.extent) refuse_kind(at, t, j);
      return detail::make_items(*t.element, to, t.extent,
                                [&](std::size_t i, void* p) { make(*t.element, p, items[i], at.item(i)); });
    }
    case kind::list: {
      auto& items = array_at(t, j, at);
      return detail::make_list(t, to, items.size(),
                               [&](std::size_t i, void* p) { make(*t.element, p, items[i], at.item(i)); });
    }
    case kind::maybe:
      return detail::make_list(t, to, j.kind == json_tree::null ? 0 : 1,
                               [&](std::size_t, void* p) { make(*t.element, p, j, at); });
    case kind::batch: return make_batch(t, to, j, at);
    case kind::structure:
    case kind::pair:
    case kind::tuple: {
      if (is_none(t)) {
        if (j.kind != json_tree::null) refuse_kind(at, t, j);
        return detail::make_members(t, to, [](auto&&...) {});
      }
      auto parts = parts_of(t, j, at);
      return detail::make_members(
          t, to, [&](std::size_t k, const element_type&, void* p) { make_part(t, k, p, parts[k], at); });
    }
    default: refuse_type(at, t);
  }
}

}  // namespace

result<value> value_from_json(const element_type& t, std::string_view text) {
  try {
    json_tree j = detail::read_json_tree(text);
    return value_room::make(t, [&](void* to) { make(t, to, j, {}); });
  } catch (...) { return current_exception_status(); }
}

}  // namespace sluice::lib
