// SPDX-License-Identifier: Apache-2.0
// Reads rows without quotes that have the usual number of fields, column by column.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "format/csv/csv_parser.hpp"
#include "format/csv/csv_window.hpp"

namespace sluice::lib {
namespace {

/// Returns true if the bytes at these n places are `sign`.
bool are_all(const char* bytes, const std::uint32_t* places, std::size_t n, char sign) {
  int others = 0;
  std::size_t k = 0;
  for (; k + 4 <= n; k += 4)  // a loop of single places takes twice the time
    others |= (bytes[places[k]] ^ sign) | (bytes[places[k + 1]] ^ sign) | (bytes[places[k + 2]] ^ sign) |
              (bytes[places[k + 3]] ^ sign);
  for (; k != n; ++k) others |= bytes[places[k]] ^ sign;
  return others == 0;
}

}  // namespace

/// Returns true if the row at p certainly does not end in the indexed bytes. It is cheaper than finding its fields.
bool csv_parser::is_incomplete(const window_view& w, const place& p) const {
  const std::size_t left = w.entry_count - p.entry;
  return !w.is_all && left < column_of_field_.size() &&
         are_all(w.bytes.data() - w.shift, w.entries + p.entry, left, dialect_.delimiter);
}

/// Stores rows without quotes and with the usual number of fields, from p on, in run_, and the place after them.
std::size_t csv_parser::find_run(const window_view& w, place p, std::size_t rows_max) {
  const std::size_t fields = column_of_field_.size();
  const char* const bytes = w.bytes.data() - w.shift;  // entries count from there
  if (run_.size() <= rows_max) run_.resize(rows_max + 1);
  // Numbers of their own: a place that is copied just after its two halves were written waits for these to reach the cache.
  std::size_t at = p.at, entry = p.entry, n = 0;
  for (; n != rows_max; ++n) {
    run_[n].at = at;
    run_[n].entry = entry;
    if (w.entry_count - entry < fields || at == w.indexed) break;
    const char first = w.bytes[at];
    if (first == dialect_.comment || is_csv_line_end(first)) break;
    const std::uint32_t* const signs = w.entries + entry;
    const std::size_t end = signs[fields - 1] - w.shift;
    if (!is_csv_line_end(w.bytes[end]) || !are_all(bytes, signs, fields - 1, dialect_.delimiter)) break;
    at = end + 1;
    entry += fields;
    if (w.bytes[end] == '\n') continue;
    place after{end, entry - 1};
    if (end_line(w, after) != found_row::whole) break;
    at = after.at;
    entry = after.entry;
  }
  if (n == rows_max) run_[n] = {at, entry};
  return n;
}

/// Reads rows of the run as numbers of type T, beginning with number `from`. Returns how many have the usual form.
template <class T>
std::size_t csv_parser::read_run(parsed_column& c, const window_view& w, std::size_t from, std::size_t n,
                                 std::size_t row) {
  if (na_is_number_) return 0;
  T* to = reinterpret_cast<T*>(c.numbers.data()) + row + from;
  return detail::read_csv_numbers(spans_.data() + from, n - from, w.bytes.data(), to);
}

/// Chooses the columns whose fields are checked row by row.
void csv_parser::choose_checks() {
  number_checks_.clear();
  text_checks_.clear();
  for (std::size_t f = 0; f != column_of_field_.size(); ++f) {
    if (column_of_field_[f] < 0) continue;
    const auto k = static_cast<std::uint32_t>(column_of_field_[f]);
    parsed_column& c = columns_[k];
    const bool is_real = c.is.values == dtype::float32 || c.is.values == dtype::float64;
    const bool is_number = (is_real || c.is.values == dtype::int64) && !na_is_number_;
    const bool is_text = c.is.values == dtype::string && dialect_.na.empty();
    c.is_checked_by_row = c.is.use == column_use::checked && (is_number || is_text);
    if (!c.is_checked_by_row) continue;
    if (is_text) text_checks_.push_back(static_cast<std::uint32_t>(f));
    else number_checks_.push_back({static_cast<std::uint32_t>(f), k, is_real});
  }
}

/// Returns the number of the run's rows before the first one in which a field is not valid. Only these columns are checked.
std::size_t csv_parser::check_rows(const window_view& w, std::size_t n, std::size_t row) {
  const std::size_t checks = number_checks_.size();
  if (checks == 0 && text_checks_.empty()) return n;
  const char* const bytes = w.bytes.data() - w.shift;
  for (std::size_t i = 0; i != n; ++i) {
    const detail::csv_usual_row r{w.bytes.data() + run_[i].at, bytes, w.entries + run_[i].entry};
    bool is_missing = false;
    for (const std::uint32_t f : text_checks_) {
      const csv_span text = r.field(f);
      is_missing |= text.begin == text.end;
    }
    if (is_missing) return i;
    for (std::size_t k = 0; k != checks; ++k) {
      k += detail::check_csv_numbers(r, number_checks_.data() + k, checks - k, w.bytes.data());
      if (k == checks) break;
      const csv_span text = r.field(number_checks_[k].field);
      parsed_column& c = columns_[number_checks_[k].column];
      if (!read_field(c, {text.begin, static_cast<std::size_t>(text.end - text.begin)}, row + i)) return i;
    }
  }
  return n;
}

/// Stores field `f` of the run's rows as values of column c. Returns the number of valid rows.
std::size_t csv_parser::read_column(parsed_column& c, const window_view& w, std::size_t f, std::size_t n,
                                    std::size_t row) {
  if (spans_.size() < n) spans_.resize(n);
  const char* const bytes = w.bytes.data();
  for (std::size_t i = 0; i != n; ++i) {
    const std::size_t entry = run_[i].entry + f;
    spans_[i] = {bytes + (f == 0 ? run_[i].at : w.at(entry - 1) + 1), bytes + w.at(entry)};
  }
  for (std::size_t i = 0; i != n;) {
    std::size_t usual = 0;
    switch (c.is.values) {
      case dtype::float32: usual = read_run<float>(c, w, i, n, row); break;
      case dtype::float64: usual = read_run<double>(c, w, i, n, row); break;
      case dtype::int64: usual = read_run<std::int64_t>(c, w, i, n, row); break;
      case dtype::int32: usual = read_run<std::int32_t>(c, w, i, n, row); break;
      default: break;
    }
    const bool notes_valid = c.is.is_optional && c.is.use == column_use::built;
    for (const std::size_t end = i + usual; notes_valid && i != end; ++i) set_valid(c, row + i);
    if (!notes_valid) i += usual;
    if (i == n) break;
    const csv_span& s = spans_[i];
    if (!read_field(c, {s.begin, static_cast<std::size_t>(s.end - s.begin)}, row + i)) return i;
    ++i;
  }
  return n;
}

/// Reads usual rows as long as all their fields are valid. p is after them then.
std::size_t csv_parser::usual_rows(const window_view& w, place& p, std::size_t row, std::size_t rows_max) {
  // A field with an escape character may have any sign.
  const std::size_t found =
      columns_.empty() || dialect_.escape != 0 ? 0 : find_run(w, p, std::min(rows_max, run_most_));
  std::size_t n = found == 0 ? 0 : check_rows(w, found, row);
  for (std::size_t f = 0; n != 0 && f != column_of_field_.size(); ++f) {
    const std::int32_t k = column_of_field_[f];
    if (k < 0 || columns_[static_cast<std::size_t>(k)].is_checked_by_row) continue;
    n = read_column(columns_[static_cast<std::size_t>(k)], w, f, n, row);
  }
  run_most_ = n == found ? std::min(2 * run_most_, kRowsMax) : std::max<std::size_t>(1, n);
  if (n != 0) p = run_[n];
  return n;
}

}  // namespace sluice::lib
