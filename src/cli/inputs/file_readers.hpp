// SPDX-License-Identifier: Apache-2.0
// Chooses the operator that reads a file, by a given format, by the file's name, or by its first bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/inputs/format_options.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib::cli {

/// The reader of an input.
struct reader {
  std::string_view format;
  std::string_view op;
  std::string_view behind;  ///< the text after it in the plan
  char delimiter = ',';     ///< of csv
  /// The file is a table without bytes. It has no header, and the file verbs read it as no lines.
  bool is_empty = false;
};

/// The names of the formats, for --from.
std::vector<std::string> reader_formats();
/// Throws misuse if no reader has this name.
reader reader_named(std::string_view format);
/// Detects the format of a file (file_kind.hpp). For a remote file whose name shows a format that has checks of its
/// own,
/// the name decides, so that nothing is requested for it. Blocks. Errors: unimplemented, invalid_argument: no reader
/// reads it; data_loss: it is named as a compressed file, and is not one; not_found and others: a local file does not
/// exist.
result<reader> find_reader(const std::string& file, compression c = compression::automatic);
/// Does the same, and throws misuse if no reader reads the file, else `error`.
reader reader_of(const std::string& file);
/// Does the same, unless the arguments name the format.
reader reader_of(const std::string& file, const format_arguments& a);
/// Throws misuse for an option that the format does not have.
void check_options(const std::string& file, const reader& r, const format_arguments& a);
/// Returns the text of the plan that reads the file, or the files that match a pattern. For standard input and other
/// streams a schema that is not given is inferred from the first bytes. Throws misuse if this build lacks the operator,
/// or the format does not have one of the options.
std::string plan_for(const std::string& file, const reader& r, const format_arguments& a);

}  // namespace sluice::lib::cli
