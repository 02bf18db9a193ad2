// SPDX-License-Identifier: Apache-2.0
#include "format/csv/csv_cutter.hpp"

#include <utility>

#include "base/text/byte_order_mark.hpp"

namespace sluice::lib {

csv_cutter::csv_cutter(const csv_dialect& dialect)
    : tape_('\n', dialect.quotes), comment_(dialect.comment), has_escapes_(dialect.escape != 0) {}

/// Finds rows and comments that end with their first sign, and empty lines, as far as they follow each other. `offset`:
/// of the window.
void csv_cutter::cut_plain(std::string_view window, std::uint64_t offset, csv_scan& s, std::uint64_t& line,
                           std::span<row> rows) {
  for (;;) {
    const std::size_t from = s.used_bytes;
    const std::string_view rest = window.substr(from);
    tape_.go_to(offset + from);
    if (tape_.size() == 0 && !tape_.extend(rest)) return;
    const std::uint32_t* const entries = tape_.entries();
    const std::size_t count = tape_.size(), shift = tape_.shift();
    std::size_t begin = 0;  // in `rest`
    for (std::size_t entry = 0; entry != count && s.rows != rows.size(); ++entry) {
      const std::size_t at = entries[entry] - shift;
      // A row of this length may be an error, which csv_parser finds.
      if (rest[at] != '\n' || at - begin >= csv_parser::kRowBytesMax) return;
      const bool is_row = at != begin && (comment_ == 0 || rest[begin] != comment_);
      if (is_row) rows[s.rows++] = {from + begin, from + at + 1, line};
      line += line != 0;
      begin = at + 1;
      s.used_bytes = from + begin;
    }
    if (s.rows == rows.size()) return;
    if (begin == 0 && !tape_.extend(rest)) return;
  }
}

csv_scan csv_cutter::cut(csv_parser& parser, std::string_view window, std::uint64_t offset, bool last,
                         std::span<row> rows) {
  std::uint64_t line = parser.line_at(offset);
  csv_scan s;
  if (offset == 0) s.used_bytes = detail::byte_order_mark_bytes(window);
  while (s.rows != rows.size()) {
    if (!has_escapes_) cut_plain(window, offset, s, line, rows);
    const std::size_t begin = s.used_bytes;
    if (s.rows == rows.size() || (begin != 0 && begin == window.size())) break;
    parser.set_line(line, offset + begin);
    csv_scan one = parser.pass_over(window.substr(begin), offset + begin, last, 1);
    if (one.rows) rows[s.rows++] = {begin + one.row_begin, begin + one.used_bytes, parser.row_line()};
    if (one.used_bytes == 0 && begin == 0) return one;
    if (one.used_bytes == 0) break;  // what is before is done with first
    s.used_bytes += one.used_bytes;
    line = parser.line_at(offset + s.used_bytes);
  }
  parser.set_line(line, offset + s.used_bytes);
  return s;
}

}  // namespace sluice::lib
