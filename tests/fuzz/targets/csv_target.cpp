// SPDX-License-Identifier: Apache-2.0
// CSV against a loop that looks at one character after the other; and numbers against strtod.
#include <cmath>
#include <cstdlib>

#include "fuzz/target.hpp"
#include "sluice/format/csv_schema.hpp"
#include "support/bytes/csv_reference.hpp"

namespace sluice::lib::fuzz {
namespace {

void rows_are_right(std::string_view text, const csv_dialect& d, std::size_t columns, std::size_t window,
                    std::size_t rows_max) {
  auto want = test::csv_reference(text, d).rows();
  for (auto& r : want)
    if (r.fields.size() != columns) r = {true, {}};
  expect(test::parsed_csv(text, d, columns, window, rows_max) == want, "windows of a text give other rows");
  expect(test::parsed_csv(text, d, columns, text.size() + 1, want.size() + 1) == want,
         "a text at once gives other rows");
}

/// The bytes as one field of numbers.
void number_is_right(std::string_view text) {
  struct row {
    float x = 0;
    double y = 0;
  };
  const std::string field(text.substr(0, text.find_first_of(std::string_view(",\"\n\r\0", 5))));
  if (field.empty()) return;
  csv_parser parser(*csv_schema_of("x: float, y: double"), {});
  const std::string line = field + "," + field + "\n";
  csv_scan s = parser.parse(line, 0, true, 1);
  if (s.rows == 0) return;
  row made;
  parser.make_rows(&made);
  const double wanted = std::strtod(field.c_str(), nullptr);
  const bool is_right = std::isnan(wanted) ? std::isnan(made.y) : made.y == wanted;
  expect(is_right, "a number is not the nearest");
  const float small = std::strtof(field.c_str(), nullptr);
  expect(std::isnan(small) ? std::isnan(made.x) : made.x == small, "a float is not the nearest");
}

}  // namespace

void csv(std::string_view bytes) {
  input in(bytes);
  csv_dialect d;
  const std::uint8_t how = in.byte();
  d.quotes = how % 4 != 0;
  d.comment = how / 4 % 2 ? '#' : '\0';
  d.delimiter = how / 8 % 4 == 0 ? ';' : ',';
  const std::size_t columns = 1 + how / 32 % 4, window = 1 + in.byte(), rows_max = 1 + in.byte() % 16;
  const std::string_view text = in.rest();
  rows_are_right(text, d, columns, window, rows_max);
  number_is_right(text);
  auto schema = csv_schema_of(text);
  if (!schema.ok()) return;
  const std::string printed = csv_schema_text(*schema);
  auto again = csv_schema_of(printed);
  expect(again.ok() && csv_schema_text(*again) == printed, "a schema does not read back");
}

}  // namespace sluice::lib::fuzz
