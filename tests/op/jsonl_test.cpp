// SPDX-License-Identifier: Apache-2.0
// sluice/op/jsonl.hpp
#include "sluice/op/jsonl.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "format/json/json_rows.hpp"
#include "sluice/sluice.hpp"
#include "support/file_case.hpp"
#include "support/op_conformance.hpp"
#include "support/printed_run.hpp"
#include "verbs/jsonl_model.hpp"

namespace sluice::lib::jsonl_test {

namespace {

using namespace test;
using namespace jsonl_case;
using Catch::Contains;

struct marked_line {
  std::int64_t a = 0;
};

/// What the text is as a T, printed again; or why it is none.
template <class T> std::string read_again(std::string_view json) {
  json_row_reader reader(type_of<T>());
  alignas(T) std::byte room[sizeof(T)];
  status why = reader.read(json, 0, room);
  if (!why.ok()) return std::string(why.message());
  value made(type_of<T>(), room);
  return made.print();
}

}  // namespace

TEST_CASE("JSON becomes elements of every kind, and text that does not fit is reported with its place") {
  CHECK(read_again<json_line>("{\"number\":1,\"number\":2,\"text\":\"\\u00e9\",\"tags\":[\"a\"],\"at\":null}") ==
        "{\"number\":2,\"text\":\"é\",\"tags\":[\"a\"],\"at\":null}");
  CHECK(read_again<std::vector<std::array<std::int8_t, 2>>>(" [[1, -128], [2.0, 1e1]] ") == "[[1,-128],[2,10]]");
  CHECK(read_again<std::pair<bool, double>>("[true, 1]") == "[true,1.0]");
  CHECK(read_again<std::tuple<float, float, float>>("[\"NaN\", \"-Infinity\", 0.1]") == "[\"NaN\",\"-Infinity\",0.1]");
  CHECK(read_again<std::string>("{\"base64\":\"/w==\"}") == "{\"base64\":\"/w==\"}");
  CHECK(read_again<std::uint64_t>("18446744073709551615") == "18446744073709551615");
  auto refused = [](const std::string& said, const std::string& words) { CHECK_THAT(said, Contains(words)); };
  refused(read_again<json_line>("{\"number\":1}"), "the member text is missing");
  refused(read_again<json_line>("{\"number\":1,\"text\":\"\",\"tags\":[\"a\",5]}"), "tags[1]: expected string, got 5");
  refused(read_again<json_line>("{\"number\":1,\"text\":\"\",\"tags\":[],\"at\":{\"x\":\"z\",\"y\":1}}"),
          "at.x: expected float, got \"z\"");
  refused(read_again<json_line>("[1]"), "got [1]");
  refused(read_again<std::int8_t>("128"), "expected int8, got 128");
  refused(read_again<std::uint8_t>("-1"), "expected uint8, got -1");
  refused(read_again<std::int64_t>("1.5"), "expected int64, got 1.5");
  refused(read_again<std::int64_t>("18446744073709551615"), "expected int64");
  refused(read_again<std::array<bool, 2>>("[true]"), "got [true]");
  refused(read_again<json_line>("{\"number\":1"), "not JSON");
  refused(read_again<json_line>("{} {}"), "not JSON");
  refused(read_again<std::string>("\"\xFF\""), "not JSON");
  refused(read_again<std::string>("{\"base64\":\"*\"}"), "expected string");
  refused(read_again<json_line>(std::string(3000, '[')), "not JSON");
}

TEST_CASE("a number of any size is JSON, and is reported if the member's type cannot represent it") {
  const std::string large = "18446744073709551616", digits = "1" + std::string(400, '0');
  CHECK(read_again<double>(large) == "18446744073709551616.0");
  CHECK(read_again<std::vector<std::optional<double>>>("[-" + large + ", 1, 123456789012345678901234567890]") ==
        "[-18446744073709551616.0,1.0,1.2345678901234568e+29]");
  for (const std::string& number :
       {large, "-9223372036854775809" + std::string(), digits, "1e400" + std::string(), "-1.5E+400" + std::string()}) {
    CAPTURE(number);
    const std::string line = "{\"a\":[" + number + ",{\"\\\"\":" + number + "}],\"number\":7,\"text\":\"" + number +
                             "\",\"tags\":[\"\\\\\"],\"z\":" + number + "}";
    CHECK(read_again<json_line>(line) == "{\"number\":7,\"text\":\"" + number + "\",\"tags\":[\"\\\\\"],\"at\":null}");
    CHECK(json_text_check().check(line).ok());
    CHECK_THAT(read_again<json_line>("{\"number\":" + number + ",\"text\":\"\",\"tags\":[]}"),
               Contains("number: expected int64 (-9223372036854775808 to 9223372036854775807), got ") &&
                   Contains(number.substr(0, 50)));
    CHECK_THAT(read_again<json_line>("{\"number\":1,\"text\":\"\",\"tags\":[" + number + "]}"),
               Contains("tags[0]: expected string, got " + number.substr(0, 50)));
    CHECK_THAT(read_again<json_line>("{\"number\":1,\"text\":\"\",\"tags\":" + number + "}"),
               Contains("tags: expected string[], got " + number.substr(0, 50)));
    CHECK_THAT(read_again<json_line>("{\"number\":1,\"text\":\"\",\"tags\":[],\"at\":" + number + "}"),
               Contains("at: expected ") && Contains(", got " + number.substr(0, 50)));
    CHECK_THAT(read_again<bool>(number), Contains("expected bool, got "));
  }
  for (const std::string& number : {digits, "-1e400" + std::string()})
    CHECK_THAT(read_again<double>(number), Contains("expected double (-1.79769e+308 to 1.79769e+308), got "));
  CHECK_THAT(read_again<float>("1" + std::string(50, '0')), Contains("expected float (-3.40282e+38 to 3.40282e+38)"));
  for (const char* wrong : {"[18446744073709551616, 01]", "[018446744073709551616]", "1e400.", "[1e400", "1e4000e1",
                            "-", "[1.e400]", "[\"18446744073709551616]"})
    CHECK_THAT(read_again<std::vector<double>>(wrong), Contains("not JSON"));
}

TEST_CASE("the output of print for random elements is read again") {
  for (std::uint64_t seed = 1; seed != 300; ++seed) {
    random_numbers random(seed);
    json_line l;
    l.number = static_cast<std::int64_t>(mix(seed));
    for (std::uint64_t i = random.below(40); i != 0; --i) l.text += static_cast<char>(random.below(256));
    for (std::uint64_t i = random.below(4); i != 0; --i) l.tags.push_back(std::string(random.below(5), '"'));
    if (random.below(2)) l.at = json_place{static_cast<float>(mix(seed)) / 3, static_cast<double>(mix(seed + 1)) / 7};
    std::string text;
    print(type_of<json_line>(), &l, text);
    CAPTURE(seed);
    CHECK(read_again<json_line>(text) == text);
  }
}

TEST_CASE("jsonl prints as text, and is read again") {
  const std::string text =
      "jsonl(\"a\", \"number: int64, text: string, tags: string[], at: json_place{x: float, y: double}?\")";
  CHECK(plan_text(*jsonl<json_line>("a").plan()) == text);
  auto reader = list_files("a-*") | flat_map(jsonl<std::vector<double>>());
  CHECK(plan_text(*reader.plan()) == "list_files(\"a-*\") | flat_map(jsonl(schema=\"double[]\"))");
  round_trips(*parse_plan(plan_text(*reader.plan())), plan_text(*reader.plan()));
}

TEST_CASE("lines after those of an inferred schema fit it, or get an error with a schema that fits") {
  std::string first;
  for (int i = 0; i != 100; ++i) first += "{\"a\":1,\"at\":{\"x\":\"s\"}}\n";
  auto end_of = [&](const std::string& line, const std::string& more) {
    temporary_file file("late.jsonl", first + line + "\n" + first);
    const printed_run got = run_of(parse_plan("jsonl(\"" + file.path() + "\"" + more + ")"));
    CHECK(got.elements.size() == (got.end == "end" ? more.starts_with(", on") ? 200 : 201 : 100));
    return got.end;
  };
  const std::string from = "; the schema was inferred from the file's first lines (at most 100): give one";
  const std::string late = "{\"a\":2,\"at\":{\"x\":\"t\"},\"b\":[true]}";
  CHECK_THAT(end_of(late, ""), Contains("invalid_argument") && Contains("late.jsonl") && Contains("record 100") &&
                                   Contains("line 101: the member \"b\" is not in the schema" + from +
                                            ", such as \"a: int64, at: {x: string}, b: bool[]?\""));
  CHECK(end_of(late, ", on_error=skip") == "end");
  CHECK(end_of(late, ", \"a: int64, at: {x: string}\"") == "end");  // what was said is what is wanted
  CHECK(end_of(late, ", \"a: int64, at: {x: string}, b: bool[]?\"") == "end");
  CHECK_THAT(end_of("{\"a\":2,\"at\":{\"x\":\"t\",\"y\":null}}", ""),
             Contains("line 101: at: the member \"y\" is not in the schema" + from));
  CHECK_THAT(end_of("{\"a\":0.5,\"at\":{\"x\":\"t\"}}", ""),
             Contains("line 101: a: expected int64, got 0.5" + from + ", such as \"a: double, at: {x: string}\""));
  CHECK_THAT(end_of("{\"a\":null,\"at\":{}}", ""),
             Contains("line 101: a: expected int64, got null" + from + ", such as \"a: int64?, at: {x: string?}\""));
  CHECK_THAT(end_of("{\"a\":1}", ""),
             Contains("line 101: the member at is missing" + from + ", such as \"a: int64, at: {x: string}?\""));
  CHECK_THAT(end_of("{\"a\":\"x\",\"at\":{\"x\":\"t\"}}", ""),
             Contains("line 101: a: expected int64, got \"x\"" + from + " that declares or omits it"));
  CHECK_THAT(end_of("{\"a\":0.5,\"at\":{\"x\":\"t\"}}", ", \"a: int64\""),
             Contains("got 0.5") && !Contains("inferred"));
  CHECK_THAT(end_of("{\"a\":", ""), Contains("line 101: not JSON") && !Contains("inferred"));
}

TEST_CASE("a file that begins with a byte order mark resumes anywhere") {
  auto files = std::make_shared<const test_files>(
      test_files{.bytes = {{"marked.jsonl", "\xEF\xBB\xBF\n{\"a\":1}\n\n{\"a\":2}\n{\"a\":3}"}}});
  auto ds = jsonl<marked_line>("marked.jsonl") | map([](const marked_line& l) { return l.a; });
  consumed whole = consume(ds, {.save = true, .files = files});
  CHECK(whole.complaint() == "");
  REQUIRE(whole.elements == int64s{1, 2, 3});
  REQUIRE(whole.places.size() >= 4);
  for (std::size_t k = 0; k != whole.places.size(); ++k) {
    CAPTURE(k);
    consumed rest = consume(ds, {.from = whole.places[k], .files = files});
    CHECK(rest.complaint() == "");
    CHECK(rest.elements == int64s(whole.elements.begin() + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(k), 3),
                                  whole.elements.end()));
  }
}

TEST_CASE("a text is JSON or not, for any contents") {
  json_text_check is_json;
  const std::string long_text = "[\"" + std::string(3 << 20, 'x') + "\"]";  // its parser is not kept
  for (std::string_view text : {std::string_view("{}"), std::string_view(" [1, \"a\", null] "), std::string_view("7"),
                                std::string_view("\"grün\""), std::string_view(long_text)})
    CHECK(is_json.check(text).ok());
  for (std::string_view text : {"", " ", "{", "{\"a\":}", "[1,]", "x", "{} {}", "\"\xff\"", "01", "[1"}) {
    const status why = is_json.check(text);
    CAPTURE(text);
    CHECK(why.code() == status_code::invalid_argument);
  }
  CHECK(is_json.check("[]").ok());
}

TEST_CASE("a number that no type holds refuses the plan by its member, and no member that is not asked for") {
  temporary_file file("huge.jsonl", "{\"a\":1,\"b\":2}\n{\"a\":5,\"b\":18446744073709551616}\n{\"a\":7,\"b\":1e400}\n");
  auto plan_of = [&](const std::string& more) { return parse_plan("jsonl(\"" + file.path() + "\"" + more + ")"); };
  const printed_run doubles = run_of(plan_of(", \"b: double\""));
  CHECK(doubles.elements.size() == 2);
  CHECK_THAT(doubles.end, Contains("line 3: b: expected double (") && Contains("got 1e400"));
}

TEST_CASE("if nothing can be inferred, the error is the original one") {
  const std::string lines = "{\"a\":1}\n{\"a\":2}\n", long_line = "{\"a\":\"" + std::string(20 << 20, 'x') + "\"}\n";
  auto plan_of = [](const temporary_file& file, const std::string& more) {
    return parse_plan("jsonl(\"" + file.path() + "\"" + more + ")");
  };
  temporary_file bomb("bomb.jsonl.gz", testing::gzipped(long_line, 6));
  CHECK_THROWS_WITH(plan_of(bomb, ", inflated_bytes_max=1000"),
                    Contains("1000 plain bytes, which inflated_bytes_max allows") && Contains("bomb.jsonl.gz"));
  CHECK_THROWS_WITH(plan_of(bomb, ""), Contains("resource_exhausted") && Contains("a line is longer than 16 MiB") &&
                                           Contains("bomb.jsonl.gz"));
  temporary_file some("some.jsonl.gz", testing::gzipped(lines + long_line, 6));
  const printed_run first = run_of(plan_of(some, ", inflated_bytes_max=1000"));
  CHECK(first.elements == std::vector<std::string>{"{\"a\":1}", "{\"a\":2}"});
  CHECK_THAT(first.end, Contains("inflated_bytes_max allows"));
  temporary_file longer("longer.jsonl",
                        "{\"a\":\"" + std::string(3 << 20, 'x') + "\",\"b\":1}\n{\"a\":\"\",\"b\":2}\n");
  CHECK(plan_of(longer, "")->type->name == "{a: string, b: int64}");
  CHECK(run_of(plan_of(longer, "")).elements.size() == 2);
}

TEST_CASE("a line may have 16 MiB, and one byte more is refused wherever its end is") {
  constexpr std::size_t kMost = std::size_t{16} << 20;
  auto line_of = [](std::size_t bytes) { return "{\"a\":1,\"b\":\"" + std::string(bytes - 14, 'x') + "\"}"; };
  REQUIRE(line_of(100).size() == 100);
  for (const std::string& before : {std::string(), std::string("{\"a\":0}\n")}) {
    const std::size_t ahead = before.empty() ? 0 : 1;
    for (std::size_t bytes : {kMost, kMost + 1, std::size_t{17'000'000}, std::size_t{18'000'000}}) {
      CAPTURE(bytes, ahead);
      temporary_file file("limit.jsonl", before + line_of(bytes) + "\n{\"a\":2}\n");
      const printed_run got = run_of(parse_plan("jsonl(\"" + file.path() + "\", \"a: int64\")"));
      CHECK(got.elements.size() == ahead + (bytes > kMost ? 0 : 2));
      if (bytes > kMost)
        CHECK_THAT(got.end, Contains("resource_exhausted") && Contains("a line is longer than 16 MiB"));
      else CHECK(got.end == "end");
    }
  }
}

TEST_CASE("errors of jsonl have file and line, and a bad line does not stop the next") {
  temporary_file file("bad.jsonl", "{\"x\":1}\n\n{\"x\":\n{\"x\":\"y\"}\n{\"x\":2}");
  auto plan = parse_plan("jsonl(\"" + file.path() + "\", \"x: int64\")");
  auto stopped = run_of(plan);
  CHECK(stopped.elements.size() == 1);
  CHECK_THAT(stopped.end, Contains("invalid_argument") && Contains("bad.jsonl") && Contains("record 1") &&
                              Contains("line 3: not JSON"));
  auto skipped = run_of(plan, error_policy::skip);
  CHECK(skipped.end == "end");
  CHECK(skipped.elements == std::vector<std::string>{"{\"x\":1}", "{\"x\":2}"});
}

}  // namespace sluice::lib::jsonl_test
