// SPDX-License-Identifier: Apache-2.0
// Parses the bytes of a CSV file into values, column by column. op/csv.hpp reads windows with it.
//
//   csv_parser parser(schema, {.header = true});
//   csv_scan s = parser.read_header(window, last);
//   s = parser.parse(window, offset, last, 128);       // s.rows rows, s.used_bytes bytes
//   parser.append_to(columns); parser.make_rows(room);
//
// A row ends with \n, \r or \r\n. Empty lines and comments are skipped. A quoted field begins with a quote; within it
// quotes are doubled, and all other bytes are literal. "" is the empty text in a column of texts without a default; in
// other columns it is like an empty field without quotes. A bad row ends with its line.
// Errors: with the line, if it is known (not after a resume), and the column. invalid_argument: fields; data_loss: a
//         quote that is not closed; resource_exhausted: a row of more than kRowBytesMax, or of more than
//         csv_tape::kRowEntriesMax delimiters, quotes and line ends.
// Thread: none.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "format/csv/csv_numbers.hpp"
#include "format/csv/csv_tape.hpp"
#include "sluice/base/status.hpp"
#include "sluice/element/column.hpp"
#include "sluice/format/csv_schema.hpp"

namespace sluice::lib {

struct csv_dialect {
  char delimiter = ',';
  bool quotes = true;
  char comment = 0;  ///< 0: the file has no comments
  char escape = 0;   ///< the character after it stands for itself; 0: none
  bool header = false;
  std::string na{};                    ///< a field with this text is missing, like an empty one
  bool names = true;                   ///< the header's names assign fields to columns; else the header is skipped
  std::vector<std::int64_t> select{};  ///< the fields of the schema's columns, in order; empty: all, or by name
  /// the rows from which the schema was inferred, in words for errors; "": it was declared
  std::string inferred_from{};
};

struct csv_scan {
  std::size_t rows = 0;
  std::size_t used_bytes = 0;     ///< includes lines that are no rows, and may count only these
  status why{};                   ///< the error of the next row; used_bytes is 0 then
  std::size_t damaged_bytes = 0;  ///< the length of that row
  std::size_t row_begin = 0;      ///< from pass_over() and read_fields(): where the last row begins
  bool ended = false;
  /// without a row: no row ends in these bytes; more bytes of the window, or a longer one, are needed
  std::size_t searched_bytes = 0;
  status broken{};  ///< from read_fields: why the row that it returned and skipped is invalid
};

struct csv_field {
  std::string_view text{};
  bool is_doubled = false;  ///< has doubled quotes
  bool is_escaped = false;  ///< has escape characters
  bool is_quoted = false;   ///< an empty quoted field is an empty text
};

class csv_parser {
 public:
  static constexpr std::size_t kRowBytesMax = std::size_t{16} << 20;
  static constexpr std::size_t kRowsMax = 1024;  ///< at a time; fewer if there are many columns

  csv_parser(csv_schema schema, csv_dialect dialect);

  /// Finds the columns' fields by their names, and skips that line.
  csv_scan read_header(std::string_view window, bool last);
  csv_scan parse(std::string_view window, std::uint64_t offset, bool last, std::size_t rows_max);
  csv_scan pass_over(std::string_view window, std::uint64_t offset, bool last, std::uint64_t rows_max);
  /// Returns the fields of the next row as texts, for callers without a schema.
  csv_scan read_fields(std::string_view window, std::uint64_t offset, bool last, std::vector<std::string>& fields);

  /// Returns the line that begins at this offset of the file, where the last scan ended; 0: unknown.
  std::uint64_t line_at(std::uint64_t offset) const { return offset == line_offset_ ? line_ : 0; }
  /// Declares that `line` (0: unknown) begins at this offset.
  void set_line(std::uint64_t line, std::uint64_t offset) { line_ = line, line_offset_ = offset; }
  /// Declares that the next window, at this offset, has other bytes than the windows before, and begins with `line`.
  void begin_at(std::uint64_t offset, std::uint64_t line) {
    tape_.restart(offset);
    set_line(line, offset);
  }
  /// Returns the line in which the last row of read_fields() or pass_over() begins; 0: unknown.
  std::uint64_t row_line() const { return row_line_; }

  /// Builds the rows that parse() has found. REQUIRES: the window is still valid.
  void make_rows(void* to) const;
  void append_to(column& rows) const;
  std::size_t text_bytes() const;

 private:
  struct parsed_column {
    csv_column is;
    std::size_t value_bytes = 0;  ///< the size of a number
    std::vector<char> numbers{};
    std::vector<std::string_view> texts{};
    std::vector<std::uint8_t> valid{};  ///< bits, for an optional
    std::vector<char> otherwise{};      ///< the default of a number
    bool is_absent = false;             ///< the header does not have it: it is optional, and has no values
    bool is_checked_by_row = false;     ///< by check_rows(), and not by read_column()
  };
  using csv_span = detail::csv_span;
  /// The place in the window, and in the tape, at which a row begins.
  struct place {
    std::size_t at = 0, entry = 0;
  };
  enum class found_row : std::uint8_t { whole, empty, broken, incomplete, ended };
  struct window_view;

  found_row next_row(const window_view& w, place& p, status& why);
  found_row next_fields(const window_view& w, place& p, status& why);
  bool quoted_field(const window_view& w, place& p, csv_field& f, found_row& otherwise, status& why) const;
  found_row end_line(const window_view& w, place& p) const;
  bool is_escaped(const window_view& w, std::size_t begin, std::size_t at) const;
  std::size_t end_of_plain_field(const window_view& w, place& p, csv_field& f) const;
  bool pass_line(const window_view& w, place& p) const;
  template <bool Keep> csv_scan scan(std::string_view window, std::uint64_t offset, bool last, std::uint64_t rows_max);
  std::size_t usual_rows(const window_view& w, place& p, std::size_t row, std::size_t rows_max);
  std::size_t find_run(const window_view& w, place p, std::size_t rows_max);
  bool is_incomplete(const window_view& w, const place& p) const;
  void choose_checks();
  std::size_t check_rows(const window_view& w, std::size_t n, std::size_t row);
  std::size_t read_column(parsed_column& c, const window_view& w, std::size_t f, std::size_t n, std::size_t row);
  template <class T>
  std::size_t read_run(parsed_column& c, const window_view& w, std::size_t from, std::size_t n, std::size_t row);
  static void set_valid(parsed_column& c, std::size_t row);
  bool read_field(parsed_column& c, std::string_view text, std::size_t row, bool is_text = false) const;
  status read_row(std::size_t row);
  std::string_view text_of(const csv_field& f);
  status wrong_field(const parsed_column& c, std::string_view text) const;
  std::string in_line() const;
  void begin_rows(std::size_t rows);

  csv_schema schema_;
  csv_dialect dialect_;
  csv_tape tape_;
  std::vector<parsed_column> columns_{};
  std::vector<std::int32_t> column_of_field_{};  ///< -1: no column
  bool any_count_ = false;                       ///< rows may have more fields than are read
  std::size_t fields_needed_ = 0;
  std::size_t rows_most_ = kRowsMax;
  /// the number of fields of the row in fields_, which stores only fields that may be needed
  std::size_t field_count_ = 0;
  bool na_is_number_ = false;
  std::vector<place> run_{};  ///< the places of usual rows, and their end
  std::vector<detail::csv_number_check> number_checks_{};
  std::vector<std::uint32_t> text_checks_{};  ///< fields that must not be empty
  std::vector<csv_span> spans_{};             ///< the places of one column's fields
  std::size_t run_most_ = kRowsMax;           ///< lower if rows are bad, so that few are read twice
  std::vector<csv_field> fields_{};           ///< the fields of an unusual row
  std::deque<std::string> unquoted_{};
  std::size_t unquoted_used_ = 0;
  std::size_t rows_ = 0;
  std::uint64_t line_ = 1, line_offset_ = 0;  ///< in the file; 0: unknown
  std::uint64_t row_line_ = 0;
};

}  // namespace sluice::lib
