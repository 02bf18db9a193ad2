// SPDX-License-Identifier: Apache-2.0
// The options that say what a file holds. All verbs that read files have the same ones: each registers them by
// add_format_options() and passes them on, and plan_for() (file_readers.hpp) refuses those that the file's format does
// not have.
//
//   format_arguments format;
//   add_format_options(verb, format);          // --from --schema --delimiter --no-header --escape --infer
//   …
//   node_ptr plan = plan_or_reader("people.csv", format);
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "op/csv/infer.hpp"

namespace CLI {
class App;
}

namespace sluice::lib::cli {

struct format_arguments {
  std::string from = {};                   ///< the format, as reader_formats() names it; empty: detected
  std::string schema = {};                 ///< names and types of the columns; empty: inferred
  std::string delimiter = {};              ///< of CSV, one character; empty: detected
  std::string escape = {};                 ///< of CSV, one character; empty: none
  bool has_no_header = false;              ///< of CSV
  std::optional<std::int64_t> infer = {};  ///< the number of rows from which a schema is inferred; -1: all
  std::string verb = {};                   ///< the verb that was typed, for messages; empty: not known
  bool is_merged = false;                  ///< the schema was inferred from several files (merged_schema.hpp)

  /// Returns the first option that was typed, such as "--from"; empty: none.
  std::string first_given() const;
  /// The same for the options that only CSV has.
  std::string first_of_csv() const;
};

void add_format_options(CLI::App& verb, format_arguments& to);

/// Returns the dialect of CSV. `delimiter`: the detected one.
csv_dialect dialect_of(const format_arguments& a, char delimiter);

}  // namespace sluice::lib::cli
