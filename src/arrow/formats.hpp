// SPDX-License-Identifier: Apache-2.0
// What export and import share: Arrow's format strings of our types, and how columns are named in errors.
#pragma once

#include <string>
#include <string_view>

#include "sluice/arrow/columns.hpp"

namespace sluice::lib::arrow {

/// The name of the one column of rows that are not structures.
inline constexpr const char* kValueName = "value";

bool is_bool(const element_type& t);
/// Of a scalar. Null: none.
const char* number_format(const element_type& t);
bool becomes_utf8(const element_type& text, const arrow_options& o);

/// Where a column is, in the frames of the recursion: a text is made of it only for an error.
struct place {
  const place* above = nullptr;
  std::string_view name{};  ///< of a member; "[]": the elements of a list or an array

  std::string to_string() const;
};

/// "column \"path[].name\": " + `what`.
std::string at(const place& p, std::string_view what);

}  // namespace sluice::lib::arrow
