// SPDX-License-Identifier: Apache-2.0
// sluice/format/csv_schema.hpp, src/format/csv/csv_parser.hpp
#include "sluice/format/csv_schema.hpp"

#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "format/csv/csv_fields.hpp"
#include "format/csv/csv_parser.hpp"
#include "support/bytes/csv_reference.hpp"
#include "support/random/random_numbers.hpp"

namespace sluice::lib::csv_test {
namespace {

using Catch::Contains;
using test::csv_reference_row;
using test::random_numbers;

std::string text_again(std::string_view schema) {
  auto s = csv_schema_of(schema);
  return s.ok() ? csv_schema_text(*s) : std::string(s.why().message());
}

/// Rows with another number of fields are broken, too.
std::vector<csv_reference_row> reference(std::string_view text, const csv_dialect& dialect, std::size_t columns) {
  auto rows = test::csv_reference(text, dialect).rows();
  for (csv_reference_row& r : rows)
    if (r.fields.size() != columns) r = {true, {}};
  return rows;
}

std::string random_csv(random_numbers& random, std::size_t length) {
  static constexpr std::string_view kSigns = ",,,\n\n\"\"\r#;ab1 ";
  std::string text;
  for (std::size_t i = 0; i != length; ++i) text += kSigns[random.below(kSigns.size())];
  return text;
}

/// Fields that are right, more often than not in quotes.
std::string sound_csv(random_numbers& random, std::size_t rows, std::size_t columns) {
  std::string text;
  for (std::size_t r = 0; r != rows; ++r) {
    for (std::size_t c = 0; c != columns; ++c) {
      if (c != 0) text += ',';
      std::string field(random.below(random.below(50) == 0 ? 3000 : 12), 'x');
      if (random.below(2) == 0) {
        text += field + (field.empty() ? "y" : "");
        continue;
      }
      for (char& ch : field) ch = "xy,\n\r "[random.below(6)];
      if (random.below(3) == 0) field += "\"\"";
      text.append("\"").append(field).append("\"");
    }
    text += random.below(5) == 0 ? "\r" : random.below(2) == 0 ? "\r\n" : "\n";
  }
  return text;
}

/// One row of one column, or the error's words.
template <class T> std::string read_one(const std::string& schema, const std::string& field, T& to) {
  csv_dialect d;
  d.na = "NA";
  csv_parser parser(*csv_schema_of(schema), d);
  csv_scan s = parser.parse(field, 0, true, 1);
  if (s.rows) parser.make_rows(&to);
  return std::string(s.why.message());
}

}  // namespace

TEST_CASE("schemas of CSV are read from text, and print as it") {
  for (const char* text : {"name: bytes, x: float, n: int64 = 0", "a: double?, b: bool = true, c: uint8 = 255",
                           "length = 'Sepal Length': float", "\"a b\": bytes = 'it\\'s \\x0a'", "a: int8, b: uint64"})
    CHECK(text_again(text) == text);
  CHECK(text_again(" a :string= \"x\" ,b:float= 1.5 ") == "a: bytes = 'x', b: float = 1.5");
  for (auto [text, words] :
       std::vector<std::pair<std::string, std::string>>{{"", "a column's name"},
                                                        {"a", "a colon is missing after a: write a: int64"},
                                                        {"a: date", "expected a type"},
                                                        {"a: float16", "expected a type"},
                                                        {"a: int8, a: int8", "character 10: column a appears twice"},
                                                        {"a: int8 = 300", "300 is no int8"},
                                                        {"a: int8? = 3", "may have no value"},
                                                        {"a: bytes = x", "a text in quotes"},
                                                        {"a: bytes = 'x", "has no end"},
                                                        {"a: bytes = '\\q'", "no such escape"},
                                                        {"a: int8 b: int8", "character 9"}})
    CHECK_THAT(text_again(text), Contains(words));
}

TEST_CASE("random bytes yield the same rows as a loop over characters, for any windows") {
  for (std::uint64_t seed = 1; seed != 3000; ++seed) {
    random_numbers random(seed);
    csv_dialect d;
    d.quotes = random.below(4) != 0;
    d.comment = random.below(2) ? '#' : '\0';
    d.delimiter = random.below(4) ? ',' : ';';
    const std::size_t columns = 1 + random.below(3), length = random.below(random.below(10) ? 60 : 400);
    const std::string text = random_csv(random, length);
    const std::size_t window = 1 + random.below(100), rows_max = 1 + random.below(5);
    CAPTURE(seed, text, window, rows_max, columns);
    REQUIRE(test::parsed_csv(text, d, columns, window, rows_max) == reference(text, d, columns));
  }
}

TEST_CASE("quoted fields of any length, over many pieces and windows") {
  for (std::uint64_t seed = 1; seed != 60; ++seed) {
    random_numbers random(seed);
    const std::size_t columns = 1 + random.below(4);
    const std::string text = sound_csv(random, 1 + random.below(1500), columns);
    const std::size_t window = random.below(2) ? text.size() + 1 : 1000 + random.below(60'000);
    CAPTURE(seed, window, columns);
    const auto rows = test::parsed_csv(text, {}, columns, window, 1 + random.below(300));
    const bool is_equal = rows == reference(text, {}, columns);  // a failed comparison would print megabytes
    REQUIRE(is_equal);
  }
}

TEST_CASE("tables written by Python's csv module are read back") {
  std::ifstream in("tests/golden/csv.json");
  const auto tables = nlohmann::json::parse(in);
  CHECK(tables.size() >= 40);
  for (const auto& table : tables) {
    csv_dialect d;
    d.delimiter = table["delimiter"].get<std::string>()[0];
    const auto rows = table["rows"].get<std::vector<std::vector<std::string>>>();
    const auto text = table["text"].get<std::string>();
    CAPTURE(text);
    std::vector<csv_reference_row> wanted;
    for (const auto& r : rows) wanted.push_back({false, r});
    CHECK(test::parsed_csv(text, d, rows[0].size(), 64, 7) == wanted);
  }
}

TEST_CASE("fields become the values of their columns") {
  double x = 0;
  CHECK(read_one("x: double", "1e300\n", x).empty());
  CHECK(x == 1e300);
  CHECK(read_one("x: double", " +.5\t\n", x).empty());
  CHECK(x == 0.5);
  CHECK(read_one("x: double", "0.1000000000000000055511151231257827021181583404541015625", x).empty());
  CHECK(x == 0.1);
  CHECK(read_one("x: double", "-inf", x).empty());
  CHECK(x == -std::numeric_limits<double>::infinity());
  CHECK_THAT(read_one("x: double", "1,5", x), Contains("line 1: the row has 2 fields, expected 1"));
  CHECK_THAT(read_one("x: double", "1.5x", x), Contains("line 1: column x: \"1.5x\" is no double"));
  CHECK_THAT(read_one("x: double", "\"\"", x), Contains("column x is required, and its field is empty"));
  CHECK_THAT(read_one("x: double", "NA", x), Contains("column x is required, and its field is \"NA\""));
  CHECK(read_one("x: double = -3", "NA", x).empty());
  CHECK(x == -3);
  std::int8_t small = 0;
  CHECK(read_one("x: int8", "-128", small).empty());
  CHECK(small == -128);
  CHECK_THAT(read_one("x: int8", "128", small), Contains("\"128\" is no int8"));
  CHECK_THAT(read_one("x: uint8", "-1", small), Contains("is no uint8"));
  bool flag = false;
  CHECK(read_one("x: bool", "True", flag).empty());
  CHECK(flag);
  CHECK_THAT(read_one("x: bool", "yes", flag), Contains("is no bool"));
  std::optional<std::int64_t> maybe = 3;
  CHECK(read_one("x: int64?", "NA\n", maybe).empty());
  CHECK_FALSE(maybe);
  CHECK(read_one("x: int64?", "77\n", maybe).empty());
  CHECK(maybe == 77);
  CHECK(read_one("x: int64?", "\"\"\n", maybe).empty());
  CHECK_FALSE(maybe);
  CHECK_THAT(read_one("x: int64?", "\"7\"7\n", maybe), Contains("line 1: field 1: text follows the closing quote"));
  CHECK_THAT(read_one("x: int64?", "7\"7\"\n", maybe), Contains("a quote is in a field that does not begin with one"));
  CHECK_THAT(read_one("x: int64?", "\"7\n", maybe), Contains("not closed"));
}

TEST_CASE("an empty field in quotes is the empty text, of a column of texts without a default") {
  std::string text = "before";
  CHECK(read_one("x: bytes", "\"\"\n", text).empty());
  CHECK(text.empty());
  CHECK_THAT(read_one("x: bytes", "NA\n", text), Contains("column x is required"));
  CHECK(read_one("x: bytes = 'd'", "\"\"\n", text).empty());  // as in tf.data
  CHECK(text == "d");
  std::optional<std::string> maybe;
  CHECK(read_one("x: bytes?", "\"\"", maybe).empty());
  CHECK(maybe == "");
  CHECK(read_one("x: bytes?", "NA\n", maybe).empty());
  CHECK_FALSE(maybe);
  struct row {
    std::string required;
    std::optional<std::string> maybe;
  } both{"before", "before"};
  CHECK(read_one("x: bytes, y: bytes?", "\"\",\n", both).empty());
  CHECK(both.required.empty());
  CHECK_FALSE(both.maybe);
  CHECK_THAT(read_one("x: bytes, y: bytes?", ",\"\"\n", both),
             Contains("column x is required, and its field is empty"));
}

TEST_CASE("numbers are the nearest ones, for any digits") {
  random_numbers random(5);
  std::string text;
  std::vector<std::string> spelled;
  for (int i = 0; i != 60'000; ++i) {
    std::string field = random.below(3) ? "" : "-";
    const std::size_t digits = 1 + random.below(18), point = random.below(digits + 4);
    for (std::size_t k = 0; k != digits; ++k) {
      if (k == point) field += '.';
      field += static_cast<char>('0' + random.below(random.below(3) ? 10 : 2));
    }
    if (random.below(20) == 0) field += "e" + std::to_string(random.below(20));  // no float is beyond 1e38
    if (random.below(8) == 0)
      field = std::to_string((random.below(1 << 24) + 0.5) / 1024);  // next to the middle of floats
    text += field + "," + field + "," +
            std::to_string(static_cast<std::int64_t>(random.below(2'000'000'000)) - 1'000'000'000) + "\n";
    spelled.push_back(field);
  }
  struct row {
    float x;
    double y;
    std::int32_t n;
  };
  csv_parser parser(*csv_schema_of("x: float, y: double, n: int32"), {});
  std::vector<row> rows(1024);
  std::size_t at = 0, seen = 0;
  while (at != text.size()) {
    csv_scan s = parser.parse(std::string_view(text).substr(at), at, true, 1 + seen % 1000);
    REQUIRE(s.rows != 0);
    parser.make_rows(rows.data());
    at += s.used_bytes;
    for (std::size_t r = 0; r != s.rows; ++r, ++seen) {
      CAPTURE(spelled[seen]);
      REQUIRE(rows[r].x == std::strtof(spelled[seen].c_str(), nullptr));
      REQUIRE(rows[r].y == std::strtod(spelled[seen].c_str(), nullptr));
    }
  }
  CHECK(seen == spelled.size());
}

TEST_CASE("a field of any length that is no number is refused") {
  for (const char* field :
       {".", "-", "-.", "1.2.3", "1-", "--1", "0x1", "1e", "12345678901234567", "1 2", "1/2", "1:5", "+-1"}) {
    std::int32_t n = 0;
    CAPTURE(field);
    CHECK_FALSE(read_one("x: int32", std::string(field) + "\n", n).empty());
    double x = 0;
    const bool is_number = std::string_view(field) == "12345678901234567" || std::string_view(field) == "0x1";
    CHECK(read_one("x: double", std::string(20, ' ') + field + "\n", x).empty() == is_number);
  }
}

TEST_CASE("a number that is only checked is valid where it would be read") {
  random_numbers random(7);
  std::uint64_t valid = 0, invalid = 0;
  for (const char* type : {"int64", "double", "float", "int32", "uint8", "bool", "int64?", "double?"}) {
    const csv_schema built = *csv_schema_of(std::string("x: ") + type);
    csv_schema checked = built;
    checked.columns[0].use = column_use::checked;
    for (int i = 0; i != 20'000; ++i) {
      static constexpr std::string_view kSigns = "0123456789.-";
      std::string field = random.below(3) == 0 ? "-" : "";
      for (std::size_t k = random.below(20); k != 0; --k) field += kSigns[random.below(random.below(9) ? 10 : 12)];
      if (random.below(8) == 0) field += ".";
      if (random.below(30) == 0) field += random.below(2) ? "e3" : " ";
      // Before 16 bytes of the window have passed, and after.
      const std::string before = random.below(2) == 0 ? "" : "12345678\n12345678\n", text = before + field + "\n";
      const auto outcome = [&](const csv_schema& schema) {
        csv_parser parser(schema, {});
        std::size_t at = 0, rows = 0;
        csv_scan s;
        do {
          s = parser.parse(std::string_view(text).substr(at), at, true, 8);
          rows += s.rows;
          at += s.used_bytes;
        } while (s.used_bytes != 0 && at != text.size());
        return std::to_string(rows) + std::string(s.why.message());
      };
      const std::string expected = outcome(built);
      INFO(type << ": " << text);
      REQUIRE(outcome(checked) == expected);
      ++(expected.size() == 1 ? valid : invalid);
    }
  }
  CHECK(valid > 40'000);
  CHECK(invalid > 20'000);
}

TEST_CASE("a number beyond its column is an error, and one below all of it is zero") {
  float x = 0;
  double y = 0;
  for (const char* field : {"1e39", "-3.5e38", "0x1p128", "340282356779733661637539395458142568448"}) {
    CAPTURE(field);
    CHECK_FALSE(read_one("x: float", std::string(field) + "\n", x).empty());
    CHECK(read_one("x: double", std::string(field) + "\n", y).empty());
  }
  CHECK(read_one("x: float", "340282356779733661637539395458142568447\n", x).empty());
  CHECK(x == std::numeric_limits<float>::max());
  CHECK_FALSE(read_one("x: double", "1e309\n", y).empty());
  CHECK(read_one("x: double", "-1e-400\n", y).empty());
  CHECK(y == 0);
  CHECK(read_one("x: double", "-0x1.8p1\n", y).empty());
  CHECK(y == -3);
}

TEST_CASE("a row without an end is refused beyond its limit, and the next line is a row") {
  std::string text = "\"" + std::string(csv_parser::kRowBytesMax + 10, 'x') + "\n7\n";
  csv_parser parser(*csv_schema_of("x: bytes"), {});
  csv_scan s;
  for (int i = 0; i != 10'000 && s.why.ok(); ++i) {
    s = parser.parse(std::string_view(text).substr(0, text.size() - 1), 0, false, 1);
    REQUIRE(s.rows == 0);
  }
  CHECK(s.why.code() == status_code::resource_exhausted);
  CHECK(s.damaged_bytes == text.size() - 2);
}

}  // namespace sluice::lib::csv_test
