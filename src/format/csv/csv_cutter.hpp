// SPDX-License-Identifier: Apache-2.0
// Finds where the rows of a CSV file begin and end, without their fields. A row whose first sign is its \n needs one
// look at an index of line ends and quotes; all other rows are left to csv_parser, which finds them by their fields.
//
//   csv_cutter cutter(dialect);
//   csv_scan s = cutter.cut(parser, window, offset, last, rows);       // s.rows rows, s.used_bytes bytes
//
// The rows are those of csv_parser, including bad ones: a bad row is found as one, and parsing it gives its error.
// Errors: those of csv_parser::pass_over: resource_exhausted for a row that is too long.
// Thread: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "format/csv/csv_parser.hpp"
#include "format/csv/csv_tape.hpp"

namespace sluice::lib {

class csv_cutter {
 public:
  struct row {
    std::size_t begin = 0, end = 0;  ///< in the window; with the line end
    std::uint64_t line = 0;          ///< 0: unknown
  };
  explicit csv_cutter(const csv_dialect& dialect);

  /// Finds up to rows.size() rows. `parser`: has the dialect, and knows the line at `offset` and then at the end.
  csv_scan cut(csv_parser& parser, std::string_view window, std::uint64_t offset, bool last, std::span<row> rows);

 private:
  void cut_plain(std::string_view window, std::uint64_t offset, csv_scan& s, std::uint64_t& line, std::span<row> rows);

  csv_tape tape_;
  char comment_;
  bool has_escapes_;
};

}  // namespace sluice::lib
