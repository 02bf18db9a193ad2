// SPDX-License-Identifier: Apache-2.0
// src/format/csv/csv_cutter.hpp
#include "format/csv/csv_cutter.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/format/csv_schema.hpp"
#include "sluice/sluice.hpp"
#include "support/random/random_numbers.hpp"

namespace sluice::lib::csv_cutter_test {
namespace {

using namespace test;

struct cut_row_type {
  std::string a;
  std::optional<std::int64_t> b;
};
using texts = std::vector<std::string>;

csv_schema schema() { return *csv_schema_of(type_of<cut_row_type>()); }

/// Parses the next rows, and appends what each of them is. Returns the number of bytes they took; 0 at the end.
std::size_t parse_some(csv_parser& parser, std::string_view rest, std::uint64_t offset, std::size_t rows_max,
                       texts& to) {
  csv_scan s = parser.parse(rest, offset, true, rows_max);
  for (std::size_t searched = 0; !s.rows && s.why.ok() && s.searched_bytes > searched;) {  // a long row
    searched = s.searched_bytes;
    s = parser.parse(rest, offset, true, rows_max);
  }
  alignas(cut_row_type) std::byte room[8 * sizeof(cut_row_type)];
  if (s.rows) parser.make_rows(room);
  for (std::size_t i = 0; i != s.rows; ++i)
    to.push_back(value(type_of<cut_row_type>(), room + i * sizeof(cut_row_type)).print());
  if (!s.why.ok()) to.push_back(std::to_string(offset) + " " + std::string(s.why.message()));
  return s.used_bytes + s.damaged_bytes;
}

/// The rows and the errors of the text, by the parser alone.
texts parsed(std::string_view text, const csv_dialect& dialect) {
  csv_parser parser(schema(), dialect);
  texts out;
  for (std::size_t at = 0;;) {
    const std::size_t used = parse_some(parser, text.substr(at), at, 1, out);
    if (used == 0) return out;
    at += used;
  }
}

/// The same, of rows that are cut in windows of any length and parsed one by one, or several that follow each other.
texts cut_and_parsed(std::string_view text, const csv_dialect& dialect, random_numbers& random) {
  csv_parser finder(schema(), dialect), parser(schema(), dialect);
  csv_cutter cutter(dialect);
  texts out;
  std::array<csv_cutter::row, 5> rows;
  std::size_t length = random.below(text.size() + 1);
  for (std::size_t at = 0;;) {
    const std::size_t end = std::max(at, std::min(length, text.size()));
    const std::string_view window = text.substr(at, end - at);
    const csv_scan s = cutter.cut(finder, window, at, end == text.size(), {rows.data(), 1 + random.below(5)});
    REQUIRE(s.why.ok());
    for (std::size_t i = 0; i != s.rows;) {
      std::size_t next = i + 1;
      while (next != s.rows && random.below(2) && rows[next].begin == rows[next - 1].end) ++next;
      std::string_view rest = window.substr(0, rows[next - 1].end).substr(rows[i].begin);
      std::uint64_t offset = at + rows[i].begin;
      const std::size_t before = out.size();
      parser.begin_at(offset, rows[i].line);
      while (!rest.empty()) {
        const std::size_t used = parse_some(parser, rest, offset, 8, out);
        REQUIRE(used != 0);
        rest.remove_prefix(used);
        offset += used;
      }
      REQUIRE(out.size() - before == next - i);  // each of them is a row or an error, and no comment
      i = next;
    }
    at += s.used_bytes;
    if (s.used_bytes) continue;
    if (s.ended) return out;
    if (end == text.size()) REQUIRE(s.searched_bytes < window.size());
    length = end + random.below(20);
  }
}

}  // namespace

TEST_CASE("cut rows are those of the parser, with the same errors at the same lines and offsets") {
  static constexpr std::array kPieces{"a",       "1",    ",",  "\"",    "\"\"", "\n",       "\r\n",
                                      "\r",      "#",    "\\", "x,1\n", "y,\n", "z,22\r\n", "\"q\n,\",3\n",
                                      "\"\",\n", "#c\n", "\n", "v,7\n"};
  for (std::uint64_t seed = 1; seed != 30'000; ++seed) {
    random_numbers random(seed);
    csv_dialect dialect;
    dialect.quotes = random.below(4) != 0;
    dialect.comment = random.below(2) ? '#' : '\0';
    dialect.escape = random.below(4) ? '\0' : '\\';
    std::string text;
    const std::uint64_t wild = random.below(3);
    for (std::uint64_t i = random.below(40); i != 0; --i)
      text += kPieces[random.below(3) < wild ? random.below(kPieces.size()) : 10 + random.below(8)];
    if (random.below(10) == 0) text = "\xEF\xBB\xBF" + text;
    CAPTURE(seed, text);
    REQUIRE(cut_and_parsed(text, dialect, random) == parsed(text, dialect));
  }
}

TEST_CASE("a row that is longer than the index of one piece is cut once it is whole") {
  const std::string text = "\"" + std::string(100'000, '\n') + "\",1\n" + std::string(70'000, 'x') + ",2\ny,3";
  random_numbers random(1);
  const texts rows = parsed(text, {});
  CHECK(rows.size() == 3);
  CHECK(cut_and_parsed(text, {}, random) == rows);
}

}  // namespace sluice::lib::csv_cutter_test
