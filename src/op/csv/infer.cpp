// SPDX-License-Identifier: Apache-2.0
#include "op/csv/infer.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include "base/text/ascii.hpp"
#include "base/text/byte_order_mark.hpp"
#include "engine/lowering/distinct_names.hpp"
#include "format/csv/csv_fields.hpp"

namespace sluice::lib {
namespace {

/// By default no further piece is read after this number of bytes, unless they contain no row.
constexpr std::uint64_t kBytesLookedAt = std::uint64_t{1} << 20;
constexpr const char* kNoValidRow = ": no other row shows the types of the columns";
constexpr const char* kSchemaOfColumns = ": give a schema of the columns, such as \"label: int64, text: bytes\"";

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
  bool is_absent_in_one = false;  ///< a file does not have this column
  std::string inexact{};          ///< the first whole number that no double represents
  std::uint64_t inexact_line = 0;
  std::size_t inexact_file = 0;

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
  /// Adds the values of the same column in file number `file`. Returns false if the values of the two are unlike.
  bool add(const column_guess& other, std::size_t file) {
    column_guess both = *this;
    both.is_boolean = is_boolean && other.is_boolean;
    both.is_signed = is_signed && other.is_signed;
    both.is_unsigned = is_unsigned && other.is_unsigned;
    both.is_number = is_number && other.is_number;
    both.has_none = has_none || other.has_none;
    both.has_value = has_value || other.has_value;
    if (both.inexact.empty() && !other.inexact.empty()) {
      both.inexact = other.inexact;
      both.inexact_line = other.inexact_line;
      both.inexact_file = file;
    }
    const bool is_text = both.values() == dtype::string;
    if (has_value && other.has_value && is_text && (values() != dtype::string || other.values() != dtype::string))
      return false;
    *this = std::move(both);
    return true;
  }
  dtype values() const {
    const bool has_numbers = has_value && is_number;
    if (has_value && is_boolean) return dtype::boolean;
    if (has_numbers && is_signed) return dtype::int64;
    if (has_numbers && is_unsigned) return dtype::uint64;
    return has_numbers ? dtype::float64 : dtype::string;
  }
  csv_column column() const {
    csv_column c;
    c.values = values();
    c.is_optional = is_absent_in_one || (has_none && c.values != dtype::string);
    return c;
  }
};

/// The fields of the first rows, one row after another.
class first_rows {
 public:
  /// `is_limited`: read no further after kBytesLookedAt, once there was a row.
  first_rows(file_pieces& from, const csv_dialect& dialect, bool is_limited)
      : from_(from), parser_(csv_schema{}, dialect), is_limited_(is_limited) {}

  bool next(std::vector<std::string>& fields, status& broken) {
    for (;;) {
      if (begin_ + at_ == 0 && detail::has_utf16_mark(window_)) {
        too_long_ = unimplemented_error(
            "the file begins with the mark of UTF-16, and CSV is read in UTF-8: iconv -f UTF-16 -t UTF-8 converts it");
        return false;
      }
      csv_scan s = parser_.read_fields(std::string_view(window_).substr(at_), begin_ + at_, from_.is_all(), fields);
      at_ += s.used_bytes;
      broken = std::move(s.broken);
      too_long_ = std::move(s.why);
      if (!too_long_.ok()) return false;
      if (s.rows != 0) return has_row_ = true;
      const bool continues = s.searched_bytes != 0 && s.searched_bytes < window_.size() - at_;
      if (!continues && s.used_bytes == 0 && !read_on()) return false;
    }
  }
  std::uint64_t line() const { return parser_.row_line(); }
  /// Returns why next() found no row; ok: no row is left.
  const status& too_long() const { return too_long_; }
  void count_as_header() { has_row_ = false; }

 private:
  bool read_on() {
    if (from_.is_all() || (is_limited_ && has_row_ && from_.read_bytes() >= kBytesLookedAt)) return false;
    window_.erase(0, at_);
    begin_ += at_;
    at_ = 0;
    // The end of the file may be found without another byte.
    return from_.more(window_) || from_.is_all();
  }

  file_pieces& from_;
  csv_parser parser_;
  const bool is_limited_;
  std::string window_{};
  std::size_t at_ = 0;
  std::uint64_t begin_ = 0;  ///< the place of `window_` in the file
  bool has_row_ = false;
  status too_long_{};
};

/// The columns of one file, named by its header, or c0, c1 …
struct file_columns {
  std::vector<std::string> names{};
  std::vector<column_guess> guesses{};
};

status no_rows(const file_pieces& file, const status& too_long, const status& first_broken, bool has_header) {
  if (!first_broken.ok())
    return status(first_broken.code(), absl::StrCat(std::string(first_broken.message()), kNoValidRow))
        .in_file(file.path());
  if (!file.why().ok()) return file.why();
  if (!too_long.ok()) return too_long.in_file(file.path());
  return invalid_argument_error(absl::StrCat(has_header ? "the file is empty: it has no header that names the columns"
                                                        : "the file has no rows to infer columns from",
                                             kSchemaOfColumns))
      .in_file(file.path());
}

/// Returns advice for a header that looks like a comment; empty for others.
std::string way_to_comments(std::string_view first_name) {
  return first_name.starts_with('#') ? "; comment=\"#\" in the plan skips lines that begin with #" : "";
}

status look_at(file_pieces& file, const csv_dialect& dialect, std::int64_t rows_max, file_columns& to) {
  first_rows rows(file, dialect, rows_max == kCsvRowsLookedAt);
  std::vector<std::string> fields;
  status broken, first_broken;
  if (dialect.header && rows.next(to.names, broken)) {
    if (!broken.ok()) return broken.in_file(file.path(), 0);
    to.guesses.resize(to.names.size());
    rows.count_as_header();
  }
  std::int64_t taken = 0;
  while (taken != rows_max && (!dialect.header || !to.guesses.empty()) && rows.next(fields, broken)) {
    if (to.guesses.empty() && broken.ok()) to.guesses.resize(fields.size());
    if (broken.ok() && fields.size() != to.guesses.size())
      broken = invalid_argument_error(absl::StrCat("line ", rows.line(), " has ", fields.size(),
                                                   fields.size() == 1 ? " field where " : " fields where ",
                                                   to.guesses.size(), to.guesses.size() == 1 ? " is" : " are",
                                                   " expected", to.names.empty() ? "" : way_to_comments(to.names[0])));
    if (!broken.ok() && first_broken.ok()) first_broken = broken;
    if (!broken.ok()) continue;
    for (std::size_t k = 0; k != fields.size(); ++k) to.guesses[k].look_at(fields[k], rows.line(), dialect);
    ++taken;
  }
  if (to.names.empty()) to.names.resize(to.guesses.size());
  const bool has_error = !first_broken.ok() || !file.why().ok() || !rows.too_long().ok();
  return taken != 0 || (!to.guesses.empty() && !has_error)
             ? status()
             : no_rows(file, rows.too_long(), first_broken, dialect.header);
}

/// The columns of several files, by their names.
class merged_columns {
 public:
  explicit merged_columns(bool has_header) : has_header_(has_header) {}

  status add(const std::string& path, file_columns next) {
    if (!has_header_)
      for (std::size_t k = 0; k != next.names.size(); ++k) next.names[k] = absl::StrCat("c", k);
    if (!has_header_ && !files_.empty() && next.names.size() != names_.size())
      return invalid_argument_error(absl::StrCat("the file has ", next.names.size(), " columns, and ", files_[0].path,
                                                 " has ", names_.size(), kSchemaOfColumns))
          .in_file(path);
    std::vector<bool> is_there(names_.size());
    for (std::size_t k = 0; k != next.names.size(); ++k) {
      const auto [at, is_new] = numbers_.try_emplace(next.names[k], names_.size());
      if (is_new) {
        names_.push_back(next.names[k]);
        guesses_.push_back(next.guesses[k]);
        guesses_.back().is_absent_in_one = !files_.empty();
        guesses_.back().inexact_file = files_.size();
        continue;
      }
      if (at->second >= is_there.size() || is_there[at->second])
        return invalid_argument_error(absl::StrCat("the header has column ", next.names[k],
                                                   " twice, and columns of several files are found by their names",
                                                   kSchemaOfColumns))
            .in_file(path);
      is_there[at->second] = true;
      if (!guesses_[at->second].add(next.guesses[k], files_.size())) return unlike(path, next, k);
    }
    for (std::size_t k = 0; k != is_there.size(); ++k) guesses_[k].is_absent_in_one |= !is_there[k];
    files_.push_back({path, std::move(next)});
    return {};
  }
  bool is_empty() const { return files_.empty(); }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<column_guess>& guesses() const { return guesses_; }
  const std::string& path(std::size_t file) const { return files_[file].path; }

 private:
  struct known_file {
    std::string path;
    file_columns columns;
  };

  /// Names the first file whose values in column `k` of `next` are unlike.
  status unlike(const std::string& path, const file_columns& next, std::size_t k) const {
    auto fits = [&](const known_file& f) {
      const auto at = std::ranges::find(f.columns.names, next.names[k]);
      if (at == f.columns.names.end()) return true;
      column_guess guess = f.columns.guesses[static_cast<std::size_t>(at - f.columns.names.begin())];
      return guess.add(next.guesses[k], 0);
    };
    const auto other = std::ranges::find_if_not(files_, fits);
    auto type = [](const column_guess& g) {
      const dtype d = g.values();
      return std::string(d == dtype::string ? "text" : d == dtype::float64 ? "double" : name_of(d));
    };
    const column_guess& before = guesses_[numbers_.at(next.names[k])];
    return invalid_argument_error(absl::StrCat("column ", next.names[k], " is ", type(next.guesses[k]), " here, and ",
                                               type(before), " in ", (other == files_.end() ? files_[0] : *other).path,
                                               kSchemaOfColumns))
        .in_file(path);
  }

  const bool has_header_;
  std::vector<known_file> files_{};
  std::vector<std::string> names_{};
  std::vector<column_guess> guesses_{};
  absl::flat_hash_map<std::string, std::size_t> numbers_{};
};

/// Names the columns by the header, and their members so that they differ.
std::vector<csv_column> named(std::vector<csv_column> columns, const std::vector<std::string>& header) {
  const std::vector<std::string> members = distinct_names(header);
  for (std::size_t k = 0; k != columns.size(); ++k) {
    columns[k].member = members[k];
    columns[k].name = header[k].empty() ? members[k] : header[k];
    if (columns[k].values == dtype::string && !columns[k].is_optional) columns[k].otherwise = "";
  }
  return columns;
}

result<csv_schema> schema_of(const std::vector<column_guess>& guesses, const std::vector<std::string>& names,
                             const std::vector<std::string>& paths) {
  std::vector<csv_column> columns;
  for (const column_guess& g : guesses) columns.push_back(g.column());
  columns = named(std::move(columns), names);
  for (std::size_t k = 0; k != columns.size(); ++k)
    if (columns[k].values == dtype::float64 && !guesses[k].inexact.empty())
      return invalid_argument_error(absl::StrCat("line ", guesses[k].inexact_line, ": column ", columns[k].member, ": ",
                                                 guesses[k].inexact,
                                                 " is no double, and with the others of the column ",
                                                 "no whole number of 64 bits", kSchemaOfColumns))
          .in_file(paths[guesses[k].inexact_file]);
  return csv_schema_of(std::move(columns));
}

}  // namespace

result<std::size_t> csv_fields_in_first_row(file_pieces file, const csv_dialect& dialect) {
  first_rows rows(file, dialect, true);
  std::vector<std::string> fields;
  status broken;
  if (!rows.next(fields, broken)) return no_rows(file, rows.too_long(), broken, dialect.header);
  if (!broken.ok()) return broken.in_file(file.path(), 0);
  return fields.size();
}

std::string csv_rows_looked_at(std::int64_t rows) {
  return rows < 0 ? std::string("all rows of the file") : absl::StrCat("the file's first rows (at most ", rows, ")");
}

result<csv_schema> infer_csv_schema(std::deque<file_pieces> files, const csv_dialect& dialect, std::int64_t rows) {
  if (files.size() == 1 && (files[0].path().empty() || files[0].path() == "-") && !files[0].is_given())
    return invalid_argument_error(
        files[0].path().empty()
            ? "the files are known only when the plan runs: name their columns, as in csv(schema=\"id: int64, text: "
              "string\", header=true); csv(\"*.csv\", header=true) without list_files infers them"
            : "standard input is read once: name its columns, as in csv(\"-\", \"id: int64, text: string\", "
              "header=true)");
  if (files.size() == 1) {
    file_columns only;
    if (status why = look_at(files[0], dialect, rows, only); !why.ok()) return why;
    return schema_of(only.guesses, only.names, {files[0].path()});
  }
  merged_columns all(dialect.header);
  std::vector<std::string> paths;
  status empty;
  for (file_pieces& file : files) {
    file_columns next;
    status why = look_at(file, dialect, rows, next);
    if (!why.ok() && file.is_all() && file.read_bytes() == 0) {  // it has no rows, whatever their columns are
      empty = std::move(why);
      continue;
    }
    if (why.ok()) why = all.add(file.path(), std::move(next));
    if (!why.ok()) return why;
    paths.push_back(file.path());
  }
  if (all.is_empty()) return empty;
  return schema_of(all.guesses(), all.names(), paths);
}

}  // namespace sluice::lib
