// SPDX-License-Identifier: Apache-2.0
// sluice/op/from_arrow.hpp
#include "sluice/op/from_arrow.hpp"

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "arrow/ipc_writer.hpp"
#include "arrow/row_type.hpp"
#include "sluice/arrow/columns.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/printed_run.hpp"
#include "verbs/from_arrow_model.hpp"

namespace sluice::lib::from_arrow_test {
namespace {

using namespace test;
using namespace from_arrow_case;
using Catch::Contains;

std::string text_of_rows(std::string_view text) {
  auto row = arrow::row_type_of(text);
  return row.ok() ? arrow::row_text(**row) : std::string(row.why().message());
}

}  // namespace

TEST_CASE("from_arrow prints as text, and is read again") {
  const std::string text = "from_arrow(\"a\", schema=\"number: int64, text: string\")";
  CHECK(plan_text(*from_arrow<arrow_row>("a").plan()) == text);
  CHECK(plan_text(*from_arrow<float>("a").plan()) == "from_arrow(\"a\", schema=\"float\")");
}

TEST_CASE("schemas of rows are read from text, and print as it") {
  for (const char* text :
       {"a: int64", "a: int64?, b: string[], c: float[16], d: bytes?",
        "x: {a: bool[], b: {c: int8}[]}[3], y: (int8, double)", "(string, int64)", "int32", "string?[]", "a: int64[][]",
        "image/encoded: bytes", "a: uint16[2][]", "a: timestamp[us, UTC]?, b: date32[], c: time32[ms][2]",
        "duration[ns]", "\"a:b\": int64, \"\": date64"})
    CHECK(text_of_rows(text) == text);
  CHECK(text_of_rows(" a :int64 ,b: {c:string}") == "a: int64, b: {c: string}");
  CHECK(text_of_rows("a: {b: int8}?, c: int8[]?, d: int8[2]?[]") == "a: {b: int8}?, c: int8[]?, d: int8[2]?[]");
  CHECK(text_of_rows("a: int, b: binary, c: utf8, d: float64[]") == "a: int64, b: bytes, c: string, d: double[]");
  CHECK(text_of_rows("a: timestamp[ns, tz=+05:30], b: date64[ms]?") == "a: timestamp[ns, +05:30], b: date64?");
  CHECK_THAT(text_of_rows("a: complex"), Contains("no type is called \"complex\""));
  CHECK_THAT(text_of_rows("a: time32[us]"), Contains("no type is called \"time32\""));
  CHECK_THAT(text_of_rows("a: int8, a: int8"), Contains("column a appears twice"));
  for (const char* bad : {"", "a:", "a: int64 b", "a: int64,", "{a: int8", "a: int8[0]", "a: int8[", "a: int8[x]",
                          "(int8", ":", "a: int8}", "a: int8, b"})
    CHECK_FALSE(arrow::row_type_of(std::string_view(bad)).ok());
  CHECK_FALSE(arrow::row_type_of(std::string(100'000, '{')).ok());
  CHECK_FALSE(arrow::row_type_of(std::string(100'000, '(')).ok());
}

TEST_CASE("the schema of a compressed file is read from it, for any length and block size") {
  std::vector<batched<arrow_row>> batches(40);
  std::uint64_t random = 1;
  for (auto& b : batches) {
    std::string text(10'000, ' ');
    for (char& c : text)
      c = static_cast<char>('0' + (random = random * 6364136223846793005u + 1442695040888963407u) / 8 % 64);
    b.push_back({1, text});
  }
  std::vector<member> many;
  for (int k = 0; k != 500; ++k) many.push_back({"a_column_" + std::to_string(k), 0, &type_of<std::int64_t>()});
  const element_type& wide = *struct_of("wide", many);
  std::string wide_bytes;
  ArrowSchema schema;
  REQUIRE(export_schema(wide, &schema).ok());
  REQUIRE(arrow::append_ipc_schema(wide_bytes, schema).ok());
  schema.release(&schema);
  arrow::append_ipc_end(wide_bytes);
  REQUIRE(wide_bytes.size() > 16'384);
  std::vector<compression> ways = testing::built_in_compressions();
  ways.push_back(compression::none);
  for (compression way : ways) {
    if (way == compression::snappy_blocks) continue;  // has to be named
    INFO(to_string(way));
    auto bytes_in_file = [&](const std::string& bytes) {
      return way == compression::none ? bytes : testing::packed(way, bytes, 1);
    };
    temporary_file file("learnt.arrow", bytes_in_file(arrow_stream(batches)));
    auto plan = parse_plan("from_arrow(\"" + file.path() + "\") | unbatch | map(number)");
    CHECK(run_of(plan).elements == std::vector<std::string>(40, "1"));
    temporary_file wide_file("wide.arrow", bytes_in_file(wide_bytes));
    auto read = parse_plan("from_arrow(\"" + wide_file.path() + "\")");
    CHECK(read->type->element->members.size() == 500);
    temporary_file text("no.arrow", bytes_in_file("no Arrow stream, but a text"));
    CHECK_THROWS_WITH(parse_plan("from_arrow(\"" + text.path() + "\")"),
                      Contains("data_loss") && Contains("no.arrow") && Contains("no message begins here"));
    const std::string cut = bytes_in_file(arrow_stream(batches)).substr(0, way == compression::none ? 100 : 20);
    temporary_file cut_file("cut.arrow", cut);
    CHECK_THROWS_WITH(
        parse_plan("from_arrow(\"" + cut_file.path() + "\", compression=" + std::string(to_string(way)) + ")"),
        Contains("data_loss") && Contains("cut.arrow"));
  }
}

}  // namespace sluice::lib::from_arrow_test
