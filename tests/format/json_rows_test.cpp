// SPDX-License-Identifier: Apache-2.0
// src/format/json/json_rows.hpp
#include "format/json/json_rows.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/random/random_numbers.hpp"
#include "verbs/jsonl_model.hpp"

namespace sluice::lib::json_rows_test {
namespace {

using namespace test;
using namespace jsonl_case;
using Catch::Contains;

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

TEST_CASE("JSON becomes elements of every kind, and what does not fit is told with its place") {
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

TEST_CASE("a text that is almost JSON is refused with what to write instead", "[format]") {
  struct {
    const char *text, *why;
  } texts[] = {
      {R"({"a":NaN})", R"(NaN stands without quotes: write "NaN", which a double reads, or null)"},
      {R"([1, nan])", R"(nan stands without quotes: write "NaN")"},
      {R"({"a":-Infinity})", R"(-Infinity stands without quotes: write "-Infinity", which a double reads)"},
      {R"({"a":inf})", R"(inf stands without quotes: write "Infinity")"},
      {R"({"a":True})", "True is no value of JSON: write true"},
      {R"({"a":FALSE})", "FALSE is no value of JSON: write false"},
      {R"({"a":None})", "None is no value of JSON: write null"},
      {R"({"a":undefined})", "undefined is no value of JSON: write null"},
      {R"({'a':1})", R"(a text stands in single quotes: write "a")"},
      {R"({"a":1},)", "a comma follows the text: JSON lines have none between them"},
      {R"({"a":"\ud800"})", R"(\ud800 in a text is half of a character: its other half, \udc00 to \udfff, follows it)"},
      {R"({"a":"\ud83d\ude00", "b":"x\udc00"})",
       R"(\udc00 in a text is half of a character: its other half, \ud800 to \udbff, precedes it)"},
      {"<html></html>", "it begins with <, as HTML and XML do, which servers send in place of data"},
      {R"({"a":'x"y'})", "a text stands in single quotes, and JSON has double quotes"},
      {R"({"a\"":1,b:2})", R"(the key b stands without quotes: write "b")"},
      {R"({"a":red})", R"(red stands without quotes: write "red")"},
      {R"({"a":1,})", "a comma stands before }: remove it"},
      {R"([1, ])", "a comma stands before ]: remove it"},
      {R"({"a":1} // x)", "JSON has no comments"},
      {R"({"a":1} {"a":2})", "a second JSON text follows on the line: each stands on a line of its own"},
      {R"({"a":+1})", "+1: a number has no + before it"},
      {R"({"a":.5})", ".5: digits stand on both sides of a number's point"},
      {R"({"a":1.})", "1.: digits stand on both sides of a number's point"},
      {R"({"a":007})", R"(a code such as this is a text: write "007")"},
      {R"({"a":0x1F})", "0x1F is no number: a text stands in double quotes"},
      {R"({"a":2026-01-01})", "2026-01-01 is no number: a text stands in double quotes"},
      {R"({"a":"C:\Users"})", R"(\U in a text is no escape: write \\ for a backslash)"},
      {R"({"a":"x})", "a text has no closing quote"},
      {"{\"a\":\"x\ty\"}", R"(a tab stands in a text: write \t)"},
      {R"({"a":1 "b":2})", "a comma, a bracket, a quote or a key is missing or superfluous"},
  };
  for (const auto& t : texts) {
    CAPTURE(t.text);
    CHECK_THAT(std::string(json_text_check().check(t.text).message()), Contains("not JSON: ") && Contains(t.why));
  }
}

TEST_CASE("a number of any size is JSON, and is told where the member's type does not hold it") {
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

TEST_CASE("what print writes of random elements is read again") {
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

TEST_CASE("a text is JSON or not, whatever is in it") {
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

}  // namespace sluice::lib::json_rows_test
