// SPDX-License-Identifier: Apache-2.0
// Values from JSON: the inverse of print (element/text/print_element.cpp and batch.cpp).
#include <limits>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/text/read_number.hpp"
#include "element/build.hpp"
#include "element/path.hpp"
#include "element/scalars.hpp"
#include "element/text/json_view.hpp"
#include "element/text/print_element.hpp"
#include "sluice/element/none.hpp"
#include "sluice/element/value.hpp"

namespace sluice::lib {

namespace {

using detail::json_items;
using detail::json_value;
using detail::path;

[[noreturn]] void refuse(const path& at, const std::string& what) {
  throw error(invalid_argument_error(at.prefix() + what));
}
[[noreturn]] void refuse_kind(const path& at, const element_type& t, const json_value& j) {
  refuse(at, absl::StrCat("expected ", type_text(t), ", got ", j.shown()));
}
[[noreturn]] void refuse_type(const path& at, const element_type& t) {
  refuse(at, absl::StrCat(type_text(t), " cannot be read from JSON"));
}

// --- Numbers ---

template <class T> bool read_json_real(const json_value& j, T& out) {
  using limits = std::numeric_limits<T>;
  if (j.kind() == json_value::string) {
    const std::string word = j.text();
    if (word == "NaN") out = limits::quiet_NaN();
    else if (word == "Infinity") out = limits::infinity();
    else if (word == "-Infinity") out = -limits::infinity();
    else return false;
    return true;
  }
  if (j.kind() != json_value::number) return false;
  return read_real(j.spelled(), out) == number_text::read;
}

void make_number(const element_type& t, void* to, const json_value& j, const path& at) {
  detail::with_number(t, [&]<class T>(std::type_identity<T>) {
    T x{};
    bool ok = false;
    if constexpr (std::is_same_v<T, bool>) {
      ok = j.kind() == json_value::boolean;
      x = ok && j.spelled() == "true";
    } else if constexpr (std::is_floating_point_v<T>) {
      ok = read_json_real(j, x);
    } else {
      ok = j.kind() == json_value::number && read_whole_number(j.spelled(), x) == number_text::read;
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

void make_text(const element_type& t, void* to, const json_value& j, const path& at) {
  if (j.kind() == json_value::string) return detail::make_text(t, to, j.text());
  if (j.kind() != json_value::object) refuse_kind(at, t, j);
  json_items members(j);
  const bool is_bytes = members.next() && members.name() == "base64" && members.value().kind() == json_value::string;
  if (!is_bytes) refuse_kind(at, t, j);
  const std::string bytes = members.value().text();
  if (members.next()) refuse_kind(at, t, j);
  detail::make_text(t, to, decoded(bytes, at));
}

/// Returns a member's name in JSON's spelling.
std::string json_name(const std::string& name) {
  std::string quoted;
  print_json_name(name, quoted);
  bool is_plain = quoted.size() == name.size() + 2;  // true if the name has no escape
  return is_plain || !quoted.starts_with("\"base64:") ? name : quoted.substr(1, quoted.size() - 2);
}

// --- Nests ---

std::string names_of(const element_type& t) {
  std::string out;
  for (auto& m : t.members) absl::StrAppend(&out, out.empty() ? "" : ", ", m.name);
  return out;
}

void make(const element_type& t, void* to, const json_value& j, const path& at);

void need_array(const element_type& t, const json_value& j, const path& at) {
  if (j.kind() != json_value::array) refuse_kind(at, t, j);
}

/// Finds members by their names in JSON. Most names arrive in the order of the members; a structure with many members
/// has a table for the others.
class json_names {
 public:
  explicit json_names(const element_type& t) : members_(t.members) {}

  /// Returns members.size() if no member has the name.
  std::size_t find(const std::string& name) {
    const std::size_t n = members_.size();
    const bool is_due = due_ < n && json_name(members_[due_].name) == name;
    const std::size_t k = is_due ? due_ : n <= kSearched ? search(name) : look_up(name);
    if (k != n) due_ = k + 1;
    return k;
  }

 private:
  static constexpr std::size_t kSearched = 32;

  std::size_t search(const std::string& name) const {
    std::size_t k = 0;
    while (k != members_.size() && json_name(members_[k].name) != name) ++k;
    return k;
  }
  std::size_t look_up(const std::string& name) {
    if (by_name_.empty())
      for (std::size_t k = 0; k != members_.size(); ++k) by_name_.try_emplace(json_name(members_[k].name), k);
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? members_.size() : found->second;
  }

  const std::vector<member>& members_;
  std::size_t due_ = 0;
  absl::flat_hash_map<std::string, std::size_t> by_name_{};
};

/// The JSON value of each member: by name for a structure, in order for a pair or tuple. Nothing: the member is left
/// out.
using member_values = std::vector<std::optional<json_value>>;
member_values parts_of(const element_type& t, const json_value& j, const path& at) {
  member_values parts(t.members.size());
  if (t.kind != kind::structure) {
    need_array(t, j, at);
    std::size_t n = 0;
    for (json_items items(j); items.next(); ++n)
      if (n < parts.size()) parts[n] = items.value();
    if (n != parts.size()) refuse_kind(at, t, j);
    return parts;
  }
  if (j.kind() != json_value::object) refuse_kind(at, t, j);
  json_names names(t);
  for (json_items members(j); members.next();) {
    const std::size_t k = names.find(members.name());
    if (k == t.members.size())
      refuse(at, absl::StrCat("there is no member ", members.name(), " (there is ", names_of(t), ")"));
    if (parts[k]) refuse(at, absl::StrCat("an object has the name ", members.name(), " twice"));
    parts[k] = members.value();
  }
  return parts;
}

/// Calls make_item(k, void* uninitialised, json) for each item of an array.
template <class F> auto each_item(const json_value& j, F make_item) {
  return [items = json_items(j), make_item](std::size_t i, void* p) mutable {
    items.next();
    make_item(i, p, items.value());
  };
}

void make_part(const element_type& t, std::size_t k, void* to, const std::optional<json_value>& j, const path& at) {
  const member& m = t.members[k];
  if (j) return make(*m.type, to, *j, at.part(t, k));
  if (m.type->kind != kind::maybe) refuse(at, absl::StrCat("the member ", m.name, " is missing"));
  m.type->collect(*m.type, to, nullptr, 0, 0, m.type->element->size);
}

/// Builds a batch by columns: {"label":[1,2],"text":["a","b"]}
void make_batch(const element_type& t, void* to, const json_value& j, const path& at) {
  const element_type& row = *t.element;
  if (!row.stacks_by_member()) {
    need_array(t, j, at);
    return detail::make_batch(t, to, j.count(), each_item(j, [&](std::size_t i, void* p, const json_value& item) {
                                make(row, p, item, at.item(i));
                              }));
  }
  auto columns = parts_of(row, j, at);
  std::vector<json_items> items;
  std::size_t rows = 0;
  for (std::size_t k = 0; k != columns.size(); ++k) {
    path column = at.part(row, k);
    if (!columns[k]) refuse(at, absl::StrCat("the column ", row.members[k].name, " is missing"));
    if (columns[k]->kind() != json_value::array)
      refuse(column,
             absl::StrCat("expected a column of ", type_text(*row.members[k].type), ", got ", columns[k]->shown()));
    const std::size_t n = columns[k]->count();
    if (k == 0) rows = n;
    if (n != rows) refuse(column, absl::StrCat("a column of ", n, " rows, where the first one has ", rows));
    items.emplace_back(*columns[k]);
  }
  detail::make_batch(t, to, rows, [&](std::size_t i, void* p) {
    detail::make_members(row, p, [&](std::size_t k, const element_type& m, void* part) {
      path column = at.part(row, k);
      items[k].next();
      make(m, part, items[k].value(), column.item(i));
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

void make(const element_type& t, void* to, const json_value& j, const path& at) {
  if (prints_itself(t)) refuse_type(at, t);
  switch (t.kind) {
    case kind::scalar: return make_number(t, to, j, at);
    case kind::text: return make_text(t, to, j, at);
    case kind::array:
    case kind::list: {
      need_array(t, j, at);
      const std::size_t n = j.count();
      auto make_item =
          each_item(j, [&](std::size_t i, void* p, const json_value& item) { make(*t.element, p, item, at.item(i)); });
      if (t.kind == kind::list) return detail::make_list(t, to, n, make_item);
      if (n != t.extent) refuse_kind(at, t, j);
      return detail::make_items(*t.element, to, t.extent, make_item);
    }
    case kind::maybe:
      return detail::make_list(t, to, j.kind() == json_value::null ? 0 : 1,
                               [&](std::size_t, void* p) { make(*t.element, p, j, at); });
    case kind::batch: return make_batch(t, to, j, at);
    case kind::structure:
    case kind::pair:
    case kind::tuple: {
      if (is_none(t)) {
        if (j.kind() != json_value::null) refuse_kind(at, t, j);
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
    const json_value j = detail::checked_json(text);
    return value_room::make(t, [&](void* to) { make(t, to, j, {}); });
  } catch (...) { return current_exception_status(); }
}

}  // namespace sluice::lib
