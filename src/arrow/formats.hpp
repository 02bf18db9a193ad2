// SPDX-License-Identifier: Apache-2.0
// Shared by export and import: Arrow's format strings for sluice types, and the names of columns in errors.
#pragma once

#include <string>
#include <string_view>

#include "sluice/arrow/columns.hpp"

namespace sluice::lib::arrow {

/// The name of the only column if the rows are not structures.
inline constexpr const char* kValueName = "value";

bool is_bool(const element_type& t);
/// Returns the format string of a scalar; null if Arrow has none.
const char* number_format(const element_type& t);
bool becomes_utf8(const element_type& text, const arrow_options& o);

/// The path of a column, as a chain through the frames of the recursion: it becomes a text only for an error.
struct place {
  const place* above = nullptr;
  std::string_view name{};  ///< of a member; "[]" for the elements of a list or an array

  std::string to_string() const;
};

/// Returns "column \"path[].name\": " + `what`.
std::string at(const place& p, std::string_view what);

}  // namespace sluice::lib::arrow
