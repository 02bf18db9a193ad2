// SPDX-License-Identifier: Apache-2.0
#include "op/csv/infer.hpp"

#include <algorithm>
#include <limits>

#include <absl/strings/str_cat.h>

#include "base/text/ascii.hpp"
#include "engine/files/file_head.hpp"
#include "engine/lowering/distinct_names.hpp"
#include "format/csv/csv_fields.hpp"

namespace sluice::lib {
namespace {

/// The number of bytes that are searched for rows. If they contain no row, the search continues up to the limit of a
/// row.
constexpr std::size_t kBytesLookedAt = std::size_t{1} << 20;

/// Returns true if the field consists of the digits of a whole number.
bool is_written_whole(std::string_view field) {
  field = detail::trimmed_field(field);
  if (!field.empty() && (field.front() == '-' || field.front() == '+')) field.remove_prefix(1);
  return !field.empty() && std::ranges::all_of(field, [](char c) { return detail::is_digit(c); });
}

/// Returns true for a zero before another digit, as in 01234 or -007. Such a field is a code, which would lose its
/// zeros as a number.
bool is_code(std::string_view field) {
  field = detail::trimmed_field(field);
  if (!field.empty() && (field.front() == '-' || field.front() == '+')) field.remove_prefix(1);
  return field.size() > 1 && field[0] == '0' && (detail::is_digit(field[1]) || is_hexadecimal(field));
}

/// Returns true if the nearest double equals the number. A number that does not fit into 64 bits is never exact.
bool is_exact_double(std::string_view field) {
  constexpr std::int64_t kExactMost = std::int64_t{1} << 53;
  std::int64_t small = 0;
  if (detail::read_csv_number(field, small) && small >= -kExactMost && small <= kExactMost) return true;
  constexpr double kTwoTo63 = 9223372036854775808.0, kTwoTo64 = 2 * kTwoTo63;
  std::uint64_t large = 0;
  double d = 0;
  if (!detail::read_csv_number(field, d)) return false;
  if (detail::read_csv_number(field, small))
    return d >= -kTwoTo63 && d < kTwoTo63 && static_cast<std::int64_t>(d) == small;
  return detail::read_csv_number(field, large) && d < kTwoTo64 && static_cast<std::uint64_t>(d) == large;
}

/// true or false, by a word; 1 and 0 are numbers.
bool is_written_bool(std::string_view field) {
  return !is_written_whole(field) && detail::is_csv_number(dtype::boolean, field);
}

struct column_guess {
  bool is_boolean = true;
  bool is_signed = true, is_unsigned = true, is_number = true, has_value = false, has_none = false;
  std::string inexact{};  ///< the first whole number that no double represents
  std::uint64_t inexact_line = 0;

  void look_at(const std::string& field, std::uint64_t line, const csv_dialect& dialect) {
    if (field.empty() || field == dialect.na) {
      has_none = true;
      return;
    }
    has_value = true;
    is_boolean = is_boolean && is_written_bool(field);
    is_signed = is_signed && detail::is_csv_number(dtype::int64, field);
    is_unsigned = is_unsigned && detail::is_csv_number(dtype::uint64, field);
    is_number = is_number && !is_code(field) && detail::is_csv_number(dtype::float64, field);
    if (is_number && inexact.empty() && is_written_whole(field) && !is_exact_double(field)) {
      inexact = field;
      inexact_line = line;
    }
  }
  csv_column column() const {
    csv_column c;
    const bool has_numbers = has_value && is_number;
    if (has_value && is_boolean) c.values = dtype::boolean;
    else if (has_numbers && is_signed) c.values = dtype::int64;
    else if (has_numbers && is_unsigned) c.values = dtype::uint64;
    else if (has_numbers) c.values = dtype::float64;
    c.is_optional = has_none && c.values != dtype::string;
    return c;
  }
};

/// The fields of the first rows, one row after another.
class first_rows {
 public:
  first_rows(std::string_view bytes, bool is_all, const csv_dialect& dialect)
      : bytes_(bytes), is_all_(is_all), parser_(csv_schema{}, dialect) {}

  bool next(std::vector<std::string>& fields, status& broken) {
    for (;;) {
      csv_scan s = parser_.read_fields(bytes_.substr(offset_), offset_, is_all_, fields);
      offset_ += s.used_bytes;
      broken = std::move(s.broken);
      too_long_ = std::move(s.why);
      if (!too_long_.ok()) return false;
      if (s.rows != 0) return true;
      const bool continues = s.searched_bytes != 0 && s.searched_bytes < bytes_.size() - offset_;
      if (!continues && s.used_bytes == 0) return false;
    }
  }
  std::uint64_t line() const { return parser_.row_line(); }
  /// Returns why next() found no row; ok: no row is left.
  const status& too_long() const { return too_long_; }

 private:
  std::string_view bytes_;
  bool is_all_;
  csv_parser parser_;
  std::uint64_t offset_ = 0;
  status too_long_{};
};

/// Returns true if a row follows the header, or if the file ends. Inference needs one of them.
bool has_row(const file_head& head, const csv_dialect& dialect) {
  if (head.is_all || !head.cut.ok()) return true;
  first_rows rows(head.bytes, false, dialect);
  std::vector<std::string> fields;
  status broken;
  return rows.next(fields, broken) && (!dialect.header || rows.next(fields, broken));
}

std::vector<csv_column> named(std::vector<csv_column> columns, std::vector<std::string> names) {
  names.resize(columns.size());
  names = distinct_names(names);
  for (std::size_t k = 0; k != columns.size(); ++k) columns[k].name = columns[k].member = names[k];
  return columns;
}

}  // namespace

result<csv_schema> infer_csv_schema(const std::string& path, const csv_dialect& dialect, compression packed,
                                    error_policy bad_rows, inflate_limits limits) {
  constexpr const char* kWayOut = ": give a schema of the columns, such as \"label: int64, text: bytes\"";
  constexpr const char* kOrSkip = ", or skip such rows with on_error=skip in the call";
  if (path.empty() || path == "-")
    return invalid_argument_error(absl::StrCat("the columns of an unknown file cannot be inferred", kWayOut));
  auto head = read_file_head(path, packed, kBytesLookedAt, limits);
  if (head.ok() && !has_row(*head, dialect))
    head = read_file_head(path, packed, csv_parser::kRowBytesMax + kBytesLookedAt, limits);
  if (!head.ok()) return head.why();
  first_rows rows(head->bytes, head->is_all, dialect);
  std::vector<std::string> names, fields;
  std::vector<column_guess> guesses;
  bool wants_names = dialect.header;
  status broken;
  std::size_t taken = 0;
  while (taken != kCsvRowsLookedAt && rows.next(fields, broken)) {
    if (std::exchange(wants_names, false) && broken.ok()) {
      names = fields;
      guesses.resize(names.size());
      continue;
    }
    if (guesses.empty()) guesses.resize(fields.size());
    if (broken.ok() && fields.size() != guesses.size())
      broken = invalid_argument_error(absl::StrCat("line ", rows.line(), " has ", fields.size(), " fields where ",
                                                   guesses.size(), " are expected"));
    if (!broken.ok() && bad_rows == error_policy::skip) continue;
    if (!broken.ok())
      return status(broken.code(), absl::StrCat(std::string(broken.message()), kWayOut, kOrSkip)).in_file(path);
    for (std::size_t k = 0; k != fields.size(); ++k) guesses[k].look_at(fields[k], rows.line(), dialect);
    ++taken;
  }
  if (taken == 0 && !head->cut.ok()) return head->cut;
  if (taken == 0 && !rows.too_long().ok()) return rows.too_long().in_file(path);
  if (guesses.empty() && dialect.header)
    return invalid_argument_error(absl::StrCat("the file is empty: it has no header that names the columns", kWayOut))
        .in_file(path);
  if (guesses.empty())
    return invalid_argument_error(absl::StrCat("the file has no rows to infer columns from", kWayOut)).in_file(path);
  std::vector<csv_column> columns;
  for (const column_guess& g : guesses) columns.push_back(g.column());
  columns = named(std::move(columns), names);
  for (std::size_t k = 0; k != columns.size(); ++k)
    if (columns[k].values == dtype::float64 && !guesses[k].inexact.empty())
      return invalid_argument_error(absl::StrCat("line ", guesses[k].inexact_line, ": column ", columns[k].name, ": ",
                                                 guesses[k].inexact,
                                                 " is no double, and with the others of the column ",
                                                 "no whole number of 64 bits", kWayOut))
          .in_file(path);
  return csv_schema_of(std::move(columns));
}

}  // namespace sluice::lib
