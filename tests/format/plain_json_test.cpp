// SPDX-License-Identifier: Apache-2.0
// src/format/json/plain_json.hpp
#include "format/json/plain_json.hpp"

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

#include "format/json/json_rows.hpp"
#include "sluice/sluice.hpp"
#include "support/random/random_numbers.hpp"
#include "verbs/jsonl_model.hpp"

namespace sluice::lib::plain_json_test {
namespace {

using namespace test;
using namespace jsonl_case;

struct all_kinds {
  bool flag = false;
  std::int8_t small = 0;
  std::uint64_t large = 0;
  float narrow = 0;
  double wide = 0;
  std::string text;
  std::vector<std::string> texts;
  std::array<std::int32_t, 2> two{};
  std::pair<bool, double> both;
  std::optional<std::vector<std::optional<std::int64_t>>> list;
};

/// An element that plain_json_rows or simdjson's document has made of a text, printed; "none" if it made none.
template <class T> class two_readers {
 public:
  std::string plain(std::string_view json, bool refuses_others = false) {
    return plain_.read(json, 0, refuses_others, room_) ? printed() : "none";
  }
  std::string document(std::string_view json) {
    return document_.read_document(json, 0, room_).ok() ? printed() : "none";
  }

 private:
  std::string printed() { return value(type_of<T>(), room_).print(); }

  plain_json_rows plain_{type_of<T>()};
  json_row_reader document_{type_of<T>()};
  alignas(T) std::byte room_[sizeof(T)];
};

/// Both make the same element, which `plain` must make.
template <class T> void is_plain(std::string_view json) {
  CAPTURE(json);
  two_readers<T> readers;
  const std::string made = readers.plain(json);
  CHECK(made != "none");
  CHECK(made == readers.document(json));
}
/// The plain reader leaves this to the document, whether that makes an element of it or not.
template <class T> void is_left(std::string_view json) {
  CAPTURE(json);
  CHECK(two_readers<T>().plain(json) == "none");
}

std::string random_number(random_numbers& random) {
  static constexpr std::array kNumbers{"0",
                                       "-0",
                                       "-0.0",
                                       "12.0",
                                       "1e3",
                                       "127",
                                       "128",
                                       "-129",
                                       "01",
                                       "1.",
                                       ".5",
                                       "+1",
                                       "1e400",
                                       "9007199254740993",
                                       "16777217.0",
                                       "0.1",
                                       "3.4028236e38",
                                       "1e-46",
                                       "1.17549429e-38",
                                       "--1",
                                       "9223372036854775807",
                                       "16777217",
                                       "1E+2",
                                       "123456789012345678",
                                       "1234567890123456789",
                                       "18446744073709551616",
                                       "-",
                                       "1e",
                                       "0.30000001192092896"};
  if (random.below(2)) return kNumbers[random.below(kNumbers.size())];
  std::string n = random.below(3) ? "" : "-";
  for (std::uint64_t i = 1 + random.below(12); i != 0; --i) n += static_cast<char>('0' + random.below(10));
  if (random.below(2)) n += "." + std::to_string(random.below(1'000'000'000));
  if (random.below(6) == 0) n += "e" + std::to_string(static_cast<std::int64_t>(random.below(80)) - 40);
  return n;
}
std::string random_text(random_numbers& random) {
  static constexpr std::array kPieces{"a",       "the quick brown fox ",
                                      "\\n",     "\\\"",
                                      "\\u00e9", "\\ud83d\\ude00",
                                      "\\ud83d", "\\x",
                                      "é",       "\xff",
                                      "\\u12",   "\x01",
                                      "\\/",     "\\u0000",
                                      "",        "日本"};
  std::string t = "\"";
  for (std::uint64_t i = random.below(5); i != 0; --i)
    t += kPieces[random.below(4) ? random.below(2) : random.below(kPieces.size())];
  return t + "\"";
}
std::string random_value(random_numbers& random, int depth) {
  const std::uint64_t form = random.below(depth ? 8 : 5);
  if (form < 2) return random_number(random);
  if (form == 2) return random_text(random);
  if (form == 3) return random.below(2) ? "true" : "false";
  if (form == 4) return "null";
  std::string items;
  const bool is_object = form == 7;
  for (std::uint64_t i = random.below(4); i != 0; --i) {
    if (is_object) items += random_text(random) + (random.below(2) ? ":" : " : ");
    items += random_value(random, depth - 1);
    if (i != 1) items += random.below(2) ? "," : " , ";
  }
  return (is_object ? "{" : "[") + items + (is_object ? "}" : "]");
}
/// An object that mostly fits all_kinds.
std::string random_line(random_numbers& random) {
  static constexpr std::array kFitting{"\"flag\":true",
                                       "\"small\": 7",
                                       "\"large\":12",
                                       "\"narrow\":0.5",
                                       "\"wide\":1.25",
                                       "\"text\":\"some words that are long enough\"",
                                       "\"texts\":[ \"a\" ,\"b\"]",
                                       "\"two\":[1, 2]",
                                       "\"both\":[false,2.5]",
                                       "\"list\":[1,null]"};
  static constexpr std::array kNames{"flag", "small", "large", "narrow", "wide",
                                     "text", "texts", "two",   "both",   "list"};
  std::string line = "{";
  for (std::size_t k = 0; k != kFitting.size(); ++k) {
    if (random.below(40) == 0) continue;
    if (line.size() > 1) line += ", ";
    const std::size_t other = random.below(30) ? k : random.below(kNames.size());
    if (random.below(14)) line += kFitting[other];
    else line += "\"" + std::string(kNames[other]) + "\":" + random_value(random, 2);
    if (random.below(20) == 0) line += ",\"other\":" + random_value(random, 3);
  }
  return line + "}";
}

}  // namespace

TEST_CASE("texts of the usual form are read without a document, and are the same elements") {
  is_plain<json_line>(R"({"number":1,"text":"a","tags":["b","c"],"at":{"x":0.5,"y":-2.25}})");
  is_plain<json_line>(" { \"tags\" : [ ] , \"text\" : \"\" , \"number\" : -0 }\r");
  is_plain<json_line>(R"({"number":1,"text":"\u00e9\n\ud83d\ude00","other":{"a":[1,{"b":null}],"c":"\t"},"tags":[]})");
  is_plain<json_line>("{\"number\":1,\"text\":\"grün\",\"tags\":[],\"at\":null}");
  is_plain<std::vector<double>>("[0.1, 1e-05, 123456789.125, -0.0, 12345678901234567890.5, 3]");
  is_plain<std::vector<float>>("[0.1, 16777216, -1.5]");
  is_plain<std::tuple<bool, std::optional<bool>>>("[true, false]");
  is_plain<std::vector<std::string>>("[\"0\",\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"a text that is allocated\"]");
}

TEST_CASE("texts of another form are left to the document") {
  is_left<json_line>(R"({"number":1,"number":2,"text":"","tags":[]})");
  is_left<json_line>(R"({"number":1,"text":"","tags":[]} {})");
  is_left<json_line>(R"({"number":1,"text":"\ud83d","tags":[]})");
  is_left<json_line>("{\"number\":1,\"text\":\"\xff\",\"tags\":[]}");
  is_left<json_line>("{\"number\":1,\"text\":\"\x01\",\"tags\":[]}");
  is_left<json_line>(R"({"number":1.0,"text":"","tags":[]})");
  is_left<json_line>(R"({"number":1,"text":{"base64":"/w=="},"tags":[]})");
  is_left<json_line>(R"({"number":1,"text":"","tags":["a","b",5]})");
  is_left<std::int64_t>("9223372036854775808");
  is_left<double>("\"NaN\"");
  is_left<double>("1e400");
  is_left<float>("16777217.0");  // in the middle of two floats
  two_readers<json_line> readers;
  const std::string_view more = R"({"number":1,"text":"","tags":[],"more":1})";
  CHECK(readers.plain(more, true) == "none");
  CHECK(readers.plain(more, false) != "none");
}

TEST_CASE("whatever is read without a document is what the document gives, or nothing") {
  std::uint64_t plain = 0, others = 0;
  two_readers<all_kinds> readers;
  for (std::uint64_t seed = 1; seed != 20'000; ++seed) {
    random_numbers random(seed);
    std::string line = random_line(random);
    if (random.below(4) == 0 && !line.empty())
      line[random.below(line.size())] = "{}[]\",:\\0-.e \n\x01\xc3"[random.below(17)];
    const std::string made = readers.plain(line);
    ++(made == "none" ? others : plain);
    if (made == "none") continue;
    CAPTURE(seed, line);
    REQUIRE(made == readers.document(line));
  }
  CHECK(plain > 3'000);
  CHECK(others > 3'000);
}

TEST_CASE("all bytes behind a text may be anything") {
  const std::string after = "\"\"}}}}}}\\\\\\\\]]]]]]]]]]]]]]]]]]]]";
  plain_json_rows rows(type_of<json_place>());
  json_place place;
  for (const std::string_view whole : {R"({"x":1,"y":2})", R"({"x":1,"y":2)", R"({"x":1,"y)", R"({"x":1,"z":")"}) {
    const std::string bytes = std::string(whole) + after;
    CAPTURE(whole);
    CHECK(rows.read(std::string_view(bytes).substr(0, whole.size()), after.size(), false, &place) ==
          (whole.back() == '}'));
  }
}

}  // namespace sluice::lib::plain_json_test
