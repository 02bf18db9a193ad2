// SPDX-License-Identifier: Apache-2.0
// sluice/op/csv.hpp
#include "sluice/op/csv.hpp"

#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/file_case.hpp"
#include "support/op_conformance.hpp"
#include "support/printed_run.hpp"
#include "verbs/csv_model.hpp"

namespace sluice::lib::csv_test {
namespace {

using namespace test;
using namespace csv_case;
using Catch::Contains;

}  // namespace

TEST_CASE("csv prints as text, and is read again") {
  const std::string text = "csv(\"a\", \"number: int64, text: bytes, half: double?\")";
  CHECK(plan_text(*csv<numbered_row>("a").plan()) == text);
  CHECK(plan_text(*csv<numbered_row>("a", "text = 'Text': bytes = ''", {.header = true}).plan()) ==
        "csv(\"a\", \"number: int64, text = 'Text': bytes = '', half: double?\", header=true)");
  auto reader = list_files("a-*") | flat_map(csv<numbered_row>({.header = true}));
  const std::string read =
      "list_files(\"a-*\") | flat_map(csv(schema=\"number: int64, text: bytes, half: double?\", header=true))";
  CHECK(plan_text(*reader.plan()) == read);
}

TEST_CASE("without a schema the columns are inferred from the first rows") {
  temporary_file file("inferred.csv", "id,price,,name,id\n1,2.5,,x,7\n2,3,,,8\n");
  auto plan = parse_plan("csv(\"" + file.path() + "\", header=true)");
  CHECK(run_of(plan).elements.back() == "{\"id\":2,\"price\":3.0,\"c2\":\"\",\"name\":\"\",\"id_4\":8}");
  temporary_file bare("bare.csv", "1;a\n;b\n3;\"c;d\"\n");
  auto some = parse_plan("csv(\"" + bare.path() + "\", delimiter=\";\")");
  CHECK(run_of(some).elements ==
        std::vector<std::string>{"{\"c0\":1,\"c1\":\"a\"}", "{\"c0\":null,\"c1\":\"b\"}", "{\"c0\":3,\"c1\":\"c;d\"}"});
  temporary_file packed("packed.csv.gz", testing::gzipped("x\n1\n2\n", 6));
  CHECK(run_of(parse_plan("csv(\"" + packed.path() + "\", header=true)")).elements.size() == 2);
}

TEST_CASE("if no columns can be inferred, the error is the original one") {
  const std::string rows = "a\n1\n2\n", long_row = std::string(20 << 20, 'x') + "\n";
  auto plan_of = [](const temporary_file& file, const std::string& more) {
    return parse_plan("csv(\"" + file.path() + "\"" + more + ")");
  };
  temporary_file bomb("bomb.csv.gz", testing::gzipped(long_row, 6));
  CHECK_THROWS_WITH(plan_of(bomb, ""), Contains("resource_exhausted") && Contains("a row is longer than 16 MiB") &&
                                           Contains("bomb.csv.gz"));
  CHECK_THROWS_WITH(plan_of(bomb, ", inflated_bytes_max=1000"),
                    Contains("1000 plain bytes, which inflated_bytes_max allows") && Contains("bomb.csv.gz"));
  temporary_file headed("headed.csv.gz", testing::gzipped("a\n" + long_row, 6));
  CHECK_THROWS_WITH(plan_of(headed, ", header=true"), Contains("line 2: a row is longer than 16 MiB"));
  temporary_file some("some.csv.gz", testing::gzipped(rows + long_row, 6));
  const printed_run first = run_of(plan_of(some, ", header=true, inflated_bytes_max=1000"));
  CHECK(first.elements == std::vector<std::string>{"{\"a\":1}", "{\"a\":2}"});
  CHECK_THAT(first.end, Contains("inflated_bytes_max allows"));
  temporary_file longer("longer.csv", "a,b\n" + std::string(3 << 20, 'x') + ",1\ny,2\n");
  CHECK(plan_of(longer, ", header=true")->type->name == "{a: string, b: int64}");
}

TEST_CASE("numbers with leading zeros are inferred as texts") {
  temporary_file file("codes.csv", "zip,n,x,y,z\n01234,-007,00.5,0.5,0\n1234,7, +01 ,-0,0e1\n");
  auto plan = parse_plan("csv(\"" + file.path() + "\", header=true)");
  CHECK(run_of(parse_plan("csv(\"" + file.path() + "\", \"zip: int64\", header=true)")).elements.front() ==
        "{\"zip\":1234}");  // a schema says what they are
}

TEST_CASE("a value that does not fit the inferred columns is reported with a schema that fits") {
  std::string first = "a,b,t\n";
  for (int i = 0; i != 100; ++i) first += "1,0.5,x\n";
  auto end_of = [&](const std::string& row, const std::string& more) {
    temporary_file file("late.csv", first + row + "\n");
    const printed_run got = run_of(parse_plan("csv(\"" + file.path() + "\"" + more + ", header=true)"));
    CHECK(got.elements.size() == (got.end == "end" ? 101 : 100));
    return got.end;
  };
  const std::string from = "; the schema was inferred from the file's first rows (at most 100): give one, such as ";
  CHECK_THAT(end_of("2.5,1,x", ""), Contains("invalid_argument") && Contains("late.csv") &&
                                        Contains("line 102: column a: \"2.5\" is no int64" + from +
                                                 "\"a: double, b: double, t: bytes = ''\""));
  CHECK_THAT(end_of("\"2.5\",1,x", ""), Contains("\"2.5\" is no int64" + from + "\"a: double, b"));
  CHECK_THAT(end_of("2,none,x", ""),
             Contains("column b: \"none\" is no double" + from + "\"a: int64, b: bytes, t: bytes = ''\""));
  CHECK_THAT(end_of("9223372036854775809,1,x", ""), Contains("is no int64" + from + "\"a: bytes, b: double"));
  CHECK_THAT(end_of(",1,x", ""), Contains("column a is required, and its field is empty" + from +
                                          "\"a: int64?, b: double, t: bytes = ''\""));
  CHECK(end_of("2,1,", "") == "end");
  CHECK(end_of("2.5,1,x", ", \"a: double, b: double, t: bytes = ''\"") == "end");
  CHECK_THAT(end_of("2.5,1,x", ", \"a: int64\""), Contains("is no int64") && !Contains("inferred"));
  CHECK_THAT(end_of(",1,x", ", \"a: int64\""), Contains("give it a default in the schema") && !Contains("inferred"));
}

TEST_CASE("errors of csv have file, line and column, and a bad row does not stop the next") {
  const std::string rows = "x,n\n1.5,\"a\nb\"\n\nx2,c\n2,d,e\n\"3,f\n4,g\n5,\"h\n6,i\n";
  temporary_file file("bad.csv", rows);
  auto plan = parse_plan("csv(\"" + file.path() + "\", \"x: float, n: bytes\", header=true)");
  auto stopped = run_of(plan);
  CHECK(stopped.elements.size() == 1);
  CHECK_THAT(stopped.end, Contains("invalid_argument") && Contains("bad.csv") && Contains("record 1") &&
                              Contains("line 5: column x: \"x2\" is no float"));
  auto skipped = run_of(plan, error_policy::skip);
  CHECK(skipped.end == "end");
  CHECK(skipped.elements == std::vector<std::string>{"{\"x\":1.5,\"n\":\"a\\nb\"}", "{\"x\":6.0,\"n\":\"i\"}"});
  auto batched = run_of(parse_plan(plan_text(*plan) + " | batch(3)"), error_policy::skip);
  CHECK(batched.elements == std::vector<std::string>{"{\"x\":[1.5,6.0],\"n\":[\"a\\nb\",\"i\"]}"});
  temporary_file other("other.csv", "a,b\n1,2\n");
  auto lacking = run_of(parse_plan("csv(\"" + other.path() + "\", \"x: float\", header=true)"));
  CHECK_THAT(lacking.end, Contains("the header has no column \"x\"; it has a, b"));
}

TEST_CASE("a file that has a header and nothing else resumes at its end") {
  for (const char* text : {"text,half,number\n", "\n# a comment\ntext,half,number\r\n", "text,half,number"}) {
    CAPTURE(text);
    auto files = std::make_shared<const test_files>(test_files{.bytes = {{"header.csv", text}}});
    auto ds = csv<numbered_row>("header.csv", {.header = true, .comment = "#"}) |
              map([](const numbered_row& r) { return r.number; });
    consumed whole = consume(ds, {.save = true, .files = files});
    CHECK(whole.complaint() == "");
    for (const checkpoint& place : whole.places) {
      consumed rest = consume(ds, {.from = place, .files = files});
      CHECK(rest.elements.empty());
      CHECK(rest.complaint() == "");
    }
  }
}

TEST_CASE("invalid options of csv are refused when the plan is built") {
  CHECK_THROWS_WITH(csv<numbered_row>("a", "other: int8"), Contains("has no member other"));
  CHECK_THROWS_WITH(csv<numbered_row>("a", "number: int8"), Contains("is int64, and the text says int8"));
}

}  // namespace sluice::lib::csv_test
