// SPDX-License-Identifier: Apache-2.0
#include "arrow/merged_rows.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "arrow/formats.hpp"
#include "arrow/row_type.hpp"

namespace sluice::lib::arrow {

namespace {

const element_type* without_optional(const element_type* t) { return t->kind == kind::maybe ? t->element : t; }

/// Returns the type of values of both types, or null if there is none. Neither type is an optional.
const element_type* merged_type(const element_type* a, const element_type* b) {
  if (a == b) return a;
  if (a->kind != kind::structure || b->kind != kind::structure) return nullptr;
  merged_rows inner;
  if (!inner.add(*a, {}).ok() || !inner.add(*b, {}).ok()) return nullptr;
  return inner.type();
}

}  // namespace

status merged_rows::add(const element_type& row, const std::string& file) {
  std::vector<member> members = row.members;
  if (row.kind != kind::structure) members = {{std::string(kValueName), 0, &row}};
  else is_one_value_ = false;
  return add_members(members, file);
}

status merged_rows::add_members(const std::vector<member>& members, const std::string& file) {
  std::vector<bool> is_there(columns_.size(), false);
  for (const member& m : members) {
    const element_type* type = without_optional(m.type);
    const bool may_be_null = m.type->kind == kind::maybe;
    auto at = std::find_if(columns_.begin(), columns_.end(), [&](const column& c) { return c.name == m.name; });
    if (at == columns_.end()) {
      columns_.push_back({std::string(m.name), type, may_be_null || !is_first_, file});
      continue;
    }
    is_there[static_cast<std::size_t>(at - columns_.begin())] = true;
    const element_type* both = merged_type(at->type, type);
    if (!both) return refuse(*at, *type, members, file);
    at->type = both;
    at->may_be_null |= may_be_null;
  }
  for (std::size_t k = 0; k != is_there.size(); ++k)
    if (!is_there[k]) columns_[k].may_be_null = true;
  is_first_ = false;
  return {};
}

status merged_rows::refuse(const column& c, const element_type& other, std::vector<member> members,
                           const std::string& file) const {
  std::string why = absl::StrCat("column \"", c.name, "\" is ", row_text(other), ", and ", row_text(*c.type), " in ",
                                 c.file, ": write both as one type");
  merged_rows rest = *this;
  std::erase_if(rest.columns_, [&](const column& x) { return x.name == c.name; });
  std::erase_if(members, [&](const member& x) { return x.name == c.name; });
  if (rest.add_members(members, file).ok() && !rest.columns_.empty())
    absl::StrAppend(&why, ", or read the other columns: schema=\"", row_text(*rest.type()), "\"");
  return invalid_argument_error(why).in_file(file);
}

const element_type* merged_rows::type() const {
  std::vector<member> members;
  for (const column& c : columns_) members.push_back({c.name, 0, c.may_be_null ? maybe_of(c.type) : c.type});
  return is_one_value_ && columns_.size() == 1 ? members.front().type : struct_of("row", std::move(members));
}

}  // namespace sluice::lib::arrow
