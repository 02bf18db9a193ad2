// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <absl/strings/str_cat.h>

#include "element/member_finder.hpp"
#include "format/csv/csv_parser.hpp"
#include "format/json/json_rows.hpp"
#include "sluice/element/type_text.hpp"
#include "sluice/element/value.hpp"
#include "sluice/format/csv_schema.hpp"
#include "sluice/format/example.hpp"
#include "sluice/format/example_layout.hpp"
#include "sluice/format/sequence_layout.hpp"

namespace sluice::lib::many_names_test {
using Catch::Contains;

namespace {

constexpr std::size_t kNames = 200;

/// Some have one letter, some are longer than two words; many begin and end alike.
std::string name_of(std::size_t i) {
  return i < 20 ? std::string(1, static_cast<char>('a' + i))
                : absl::StrCat("a_name_with_many_letters_", i, "_and_more");
}

std::vector<std::size_t> orders_of(int order) {
  std::vector<std::size_t> all(kNames);
  for (std::size_t i = 0; i != kNames; ++i) all[i] = order == 0 ? i : order == 1 ? kNames - 1 - i : i * 77 % kNames;
  return all;
}

/// "a: int64, b: int64, …" of all names, and of one of them twice, if there is one.
std::string schema_of_all(std::size_t twice = kNames) {
  std::string text;
  for (std::size_t i = 0; i != kNames; ++i) absl::StrAppend(&text, i == 0 ? "" : ", ", name_of(i), ": int64");
  return twice == kNames ? text : absl::StrCat(text, ", ", name_of(twice), ": int64");
}

std::int64_t number_in(const element_type& row, const void* at, std::size_t member) {
  return *reinterpret_cast<const std::int64_t*>(static_cast<const char*>(at) + row.members[member].offset);
}

}  // namespace

TEST_CASE("members are found in any order, and unknown names are not") {
  const element_type& row = **type_from_text("{" + schema_of_all() + "}");
  for (int order : {0, 1, 2}) {
    member_finder members(row);
    for (std::size_t i : orders_of(order)) {
      CHECK(members.find(name_of(i)) == i);
      CHECK(members.find(name_of(i) + "?") == kNames);
    }
  }
}

TEST_CASE("features of a large schema are found in any order") {
  const auto layout = layout_of(schema_of_all());
  REQUIRE(layout.ok());
  for (int order : {0, 1, 2}) {
    example_writer w;
    for (std::size_t i : orders_of(order)) {
      w.int64(name_of(i), static_cast<std::int64_t>(i));
      w.int64(name_of(i) + "?", -1);
    }
    const std::string record(w.finish());
    value parsed = value::empty_of(*layout->type);
    REQUIRE(layout->schema.parse(record, parsed.data()).ok());
    for (std::size_t i = 0; i != kNames; ++i)
      REQUIRE(number_in(*layout->type, parsed.data(), i) == static_cast<std::int64_t>(i));
  }
}

TEST_CASE("objects with many members are read in any order") {
  const element_type& row = **type_from_text("{" + schema_of_all() + "}");
  json_row_reader reader(row);
  json_type_guess guess;
  for (int order : {0, 1, 2}) {
    std::string text = "{";
    for (std::size_t i : orders_of(order))
      absl::StrAppend(&text, text.size() == 1 ? "" : ",", "\"", name_of(i), "\":", i);
    text += "}";
    std::vector<std::int64_t> made(kNames);
    REQUIRE(reader.read(text, 0, made.data()).ok());
    for (std::size_t i = 0; i != kNames; ++i) CHECK(made[i] == static_cast<std::int64_t>(i));
    REQUIRE(guess.look_at(text).ok());
    CHECK(*guess.type() == &row);
    auto parsed = value_from_json(row, text);
    REQUIRE(parsed.ok());
    for (std::size_t i = 0; i != kNames; ++i) CHECK(number_in(row, parsed->data(), i) == static_cast<std::int64_t>(i));
  }
  CHECK_THAT(value_from_json(row, "{\"" + name_of(50) + "\":1,\"none\":2}").why().to_string(),
             Contains("no member none"));
}

TEST_CASE("a name that appears twice is refused, however many there are") {
  for (std::size_t twice : {std::size_t{0}, std::size_t{100}, kNames - 1}) {
    const std::string text = schema_of_all(twice), name = name_of(twice);
    CHECK_THAT(layout_of(text).why().to_string(), Contains("feature " + name + " appears twice"));
    CHECK_THAT(csv_schema_of(text).why().to_string(), Contains("column " + name + " appears twice"));
    CHECK_THAT(sequence_layout_of(text).why().to_string(), Contains("feature list " + name + " appears twice"));
    CHECK_THAT(type_from_text("{" + text + "}").why().to_string(), Contains("a second member " + name));
  }
}

TEST_CASE("columns are found by a header in any order") {
  for (int order : {0, 1, 2}) {
    std::string text, row;
    for (std::size_t i : orders_of(order)) {
      absl::StrAppend(&text, text.empty() ? "" : ",", name_of(i));
      absl::StrAppend(&row, row.empty() ? "" : ",", i);
    }
    text += "\n" + row + "\n";
    csv_schema schema = *csv_schema_of(schema_of_all());
    csv_parser parser(schema, {.header = true});
    const csv_scan head = parser.read_header(text, true);
    REQUIRE(head.why.ok());
    const std::string_view rest = std::string_view(text).substr(head.used_bytes);
    REQUIRE(parser.parse(rest, head.used_bytes, true, 1).rows == 1);
    std::vector<std::int64_t> made(kNames);
    parser.make_rows(made.data());
    for (std::size_t i = 0; i != kNames; ++i) CHECK(made[i] == static_cast<std::int64_t>(i));
  }
}

TEST_CASE("a row of too many signs is refused before they take much memory") {
  const std::string text = "\"" + std::string(6 << 20, ',');
  csv_parser parser(*csv_schema_of("a: int64, b: int64"), {});
  csv_scan s;
  do s = parser.parse(text, 0, true, 1);
  while (s.why.ok() && s.rows == 0 && s.searched_bytes < text.size());
  CHECK_THAT(s.why.to_string(), Contains("a row has more than 4 Mi delimiters, quotes and line ends"));
}

}  // namespace sluice::lib::many_names_test
