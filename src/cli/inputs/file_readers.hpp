// SPDX-License-Identifier: Apache-2.0
// Chooses the operator that reads a file, by a given format, by the file's name, or by its first bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib::cli {

/// The reader of an input: the operator, and whether it has a schema argument.
struct reader {
  std::string_view format;
  std::string_view op;
  bool takes_schema;
  std::string_view options;  ///< for a file that convert writes
  std::string_view behind;   ///< the text after it in the plan
};

/// The names of the formats, for --from.
std::vector<std::string> reader_formats();
/// Throws misuse if no reader has this name.
const reader& reader_named(std::string_view format);
/// Chooses by the name, otherwise by the file's first bytes.
const reader& reader_of(const std::string& file);
/// Returns the text of the plan that reads the file. Throws misuse if this build lacks the operator.
std::string plan_for(const std::string& file, const reader& r, const std::string& schema);

}  // namespace sluice::lib::cli
