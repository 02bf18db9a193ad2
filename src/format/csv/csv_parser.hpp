// SPDX-License-Identifier: Apache-2.0
// From the bytes of a CSV file to values, by column: what op/csv.hpp reads a window with.
//
//   csv_parser parser(schema, {.header = true});
//   csv_scan s = parser.read_header(window, last);
//   s = parser.parse(window, offset, last, 128);       // s.rows of them, s.used_bytes
//   parser.append_to(columns); parser.make_rows(room);
//
// A row ends with \n, \r or \r\n; rows without a character and comments are passed over. A field in quotes begins with one;
// within it quotes are doubled, and all else stands as it is. "" is the empty text in a column of texts without a default; in
// others it is as empty as a field without quotes. A bad row ends with its line.
// Errors: with the line, where it is known (not behind a resume), and the column. invalid_argument: fields; data_loss: quotes
//         that are not closed; resource_exhausted: a row of more than kRowBytesMax, or of more than
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
  char comment = 0;  ///< 0: there are none
  bool header = false;
  std::string na{};                    ///< a field that is this is not available, as an empty one
  bool names = true;                   ///< the header's names assign fields to columns; else the header is skipped
  std::vector<std::int64_t> select{};  ///< the fields that the schema's columns are, in order; empty: all, or by name
  std::string inferred_from{};         ///< the rows that the schema is of, in words for errors; "": it was given
};

struct csv_scan {
  std::size_t rows = 0;
  std::size_t used_bytes = 0;     ///< also of lines that are no rows, alone
  status why{};                   ///< of the row in front; then used_bytes is 0
  std::size_t damaged_bytes = 0;  ///< how long that is
  bool ended = false;
  std::size_t searched_bytes = 0;  ///< without a row: none ends there; more of the window, or a longer one, is needed
  status broken{};                 ///< of read_fields: why what it took for a row, and went behind, is none
};

struct csv_field {
  std::string_view text{};
  bool is_doubled = false;  ///< has quotes to be taken out
  bool is_quoted = false;   ///< stands in quotes: an empty one is an empty text
};

class csv_parser {
 public:
  static constexpr std::size_t kRowBytesMax = std::size_t{16} << 20;
  static constexpr std::size_t kRowsMax = 1024;  ///< at a time; fewer of many columns

  csv_parser(csv_schema schema, csv_dialect dialect);

  /// Finds the columns' fields by their names, and skips that line.
  csv_scan read_header(std::string_view window, bool last);
  csv_scan parse(std::string_view window, std::uint64_t offset, bool last, std::size_t rows_max);
  csv_scan pass_over(std::string_view window, std::uint64_t offset, bool last, std::uint64_t rows_max);
  /// The fields of the next row as they are, for who knows no schema yet.
  csv_scan read_fields(std::string_view window, std::uint64_t offset, bool last, std::vector<std::string>& fields);

  /// The line that the row of read_fields begins in; 0: not known.
  std::uint64_t row_line() const { return row_line_; }

  /// Builds the rows that parse() has found. REQUIRES: the window is still valid.
  void make_rows(void* to) const;
  void append_to(column& rows) const;
  std::size_t text_bytes() const;

 private:
  struct parsed_column {
    csv_column is;
    std::size_t value_bytes = 0;  ///< of a number
    std::vector<char> numbers{};
    std::vector<std::string_view> texts{};
    std::vector<std::uint8_t> valid{};  ///< bits, of an optional
    std::vector<char> otherwise{};      ///< a number's default
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
  bool pass_line(const window_view& w, place& p) const;
  template <bool Keep> csv_scan scan(std::string_view window, std::uint64_t offset, bool last, std::uint64_t rows_max);
  std::size_t usual_rows(const window_view& w, place& p, std::size_t row, std::size_t rows_max);
  std::size_t find_run(const window_view& w, place p, std::size_t rows_max);
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
  std::vector<std::int32_t> column_of_field_{};  ///< -1: of none
  bool any_count_ = false;                       ///< rows may have more fields than are read
  std::size_t fields_needed_ = 0;
  std::size_t rows_most_ = kRowsMax;
  std::size_t field_count_ = 0;  ///< of the row in fields_, which keeps no more of them than could be wanted
  bool na_is_number_ = false;
  std::vector<place> run_{};         ///< usual rows, and where they end
  std::vector<csv_span> spans_{};    ///< of one of their columns
  std::size_t run_most_ = kRowsMax;  ///< less where rows are bad, so that few are read in vain
  std::vector<csv_field> fields_{};  ///< of a row that is not a usual one
  std::deque<std::string> unquoted_{};
  std::size_t unquoted_used_ = 0;
  std::size_t rows_ = 0;
  std::uint64_t line_ = 1, line_offset_ = 0;  ///< of the file; 0: not known
  std::uint64_t row_line_ = 0;
};

}  // namespace sluice::lib
