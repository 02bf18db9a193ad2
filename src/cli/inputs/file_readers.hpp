// SPDX-License-Identifier: Apache-2.0
// Which operator reads a file: by the format that was said, by the file's name, or by what it begins with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib::cli {

/// The reader of an input: the operator, and whether its schema is an argument of it.
struct reader {
  std::string_view format;
  std::string_view op;
  bool takes_schema;
  std::string_view options;  ///< of a file that convert writes
  std::string_view behind;   ///< it in the plan
};

/// The names of the formats, for --from.
std::vector<std::string> reader_formats();
/// Throws misuse: there is none of that name.
const reader& reader_named(std::string_view format);
/// By the name, else by what the file begins with.
const reader& reader_of(const std::string& file);
/// The text of the plan that reads the file. Throws misuse: this build has no such operator.
std::string plan_for(const std::string& file, const reader& r, const std::string& schema);

}  // namespace sluice::lib::cli
