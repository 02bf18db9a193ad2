// SPDX-License-Identifier: Apache-2.0
#include "sluice/plan/text.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>

#include "plan/fake_operators.hpp"
#include "sluice/plan/json.hpp"

namespace sluice::lib::text_test {

namespace {

std::string printed(std::string_view text) { return plan_text(*parse_plan(text)); }

struct refusal {
  std::size_t column = 0;
  std::string message;
};
refusal refused(std::string_view text) {
  try {
    parse_plan(text);
  } catch (const plan_error& e) {
    CHECK(e.code() == status_code::invalid_argument);
    return {e.column(), std::string(e.why().message())};
  }
  return {};
}

std::uint64_t seed_of_run() {
  if (const char* given = std::getenv("SLUICE_TEST_SEED")) return std::strtoull(given, nullptr, 10);
  return std::random_device()();
}

}  // namespace

TEST_CASE("a plan prints in its written form") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  for (auto text : {
           "range(5)",
           "range(5, start=2)",
           "range(-5, step=-1)",
           "lines(\"a,b\") | shuffle(10000, seed=7)",
           "lines(\"f\", compression=gzip, buffer=64KiB) | take(0)",
           "range(3) | repeat",
           "range(3) | repeat(2) | prefetch | prefetch(4)",
           "lines(\"f\") | map(length_of, parallelism=autotune, order=sloppy)",
           "lines(\"f\") | filter(length_of)",
           "lines(\"f\") | interleave(lines(compression=zlib) | take(3))",
           "lines(\"f\") | interleave(lines, cycle_length=16)",
           "lines(\"f\") | flat_map(range(3))",
           "zip(range(1), zip(range(2), lines(\"x\"))) | batch(2)",
           "sample_from(range(1), range(2), range(3), weight=0.25)",
           "range(1) | cache(\"dir\")",
           "lines(\"f\") | group(length_of, length_of, 3)",
           "range(1) | group(next_of, length_of, 3, boundaries=[1, 2, -3], weights=[], ahead=2)",
           "range(1) | columns({a=1.5, \"b c\"=2})",
           "range(1) | columns(limit=3, label=nothing)",
           "range(1) | columns(window={size=2, shift=3}, windows=[{size=1}, {size=2, ahead=autotune}])",
           "range(1) | columns(names={x=[\"a\", \"\\\"\"], y=[]}, tried=[gzip, none], table=[[1, 2], [], [3]])",
           "range(1) | route",
           "range(1) | route([range(2) | take(1), lines(\"f\")], [next_of, length_of])",
           "lines(\"f\") | route(inners={a=lines(compression=gzip) | take(2), b=length_of, c=range(2)})",
           "join(range(1), range(2), length_of)",
           "join(range(1), range(2), length_of, key=next_of)",
       })
    CHECK(printed(text) == text);
}

TEST_CASE("ways of writing that mean the same are one plan") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  CHECK(printed(" range( stop = 5 )# five\n|\ttake( 2 ) # | take(1)") == "range(5) | take(2)");
  CHECK(printed("range(10'000)|repeat()") == "range(10000) | repeat");
  CHECK(printed("range(5, start=0, step=1)") == "range(5)");
  CHECK(printed("lines(\"f\", buffer=1048576)") == "lines(\"f\")");
  CHECK(printed("lines(\"a\\x41\\n\\\"\")") == "lines(\"aA\\n\\\"\")");
  CHECK(printed("range(+5)") == "range(5)");
  CHECK(printed("lines(path=\"f\", buffer=1MiB)") == "lines(\"f\")");
  CHECK(printed("lines(\"f\") | map(parallelism=2, function=length_of)") ==
        "lines(\"f\") | map(length_of, parallelism=2)");
  CHECK(printed("range(5) | shuffle(seed=7, 10)") == "range(5) | shuffle(10, seed=7)");
  CHECK(printed("zip(on_error=skip, range(3), range(4))") == "zip(range(3), range(4), on_error=skip)");
  CHECK(printed("sample_from(range(1), weight=0.25, range(2))") == "sample_from(range(1), range(2), weight=0.25)");
  CHECK(printed("range(1) | columns({ } , windows = [ # none\n ])") == "range(1) | columns");
  CHECK(printed("range(1) | columns({b=1, \"a\"=2})") == "range(1) | columns({a=2, b=1})");
  CHECK(printed("range # five\n (5) | take # one\n ( # a comment\n n # |\n = 1)") == "range(5) | take(1)");
}

TEST_CASE("an error in a plan names its column") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  struct example {
    std::string_view text;
    std::size_t column;
    std::string_view message;
  };
  for (auto& e : std::initializer_list<example>{
           {"range(5) | shufle(10)", 12, "column 12: there is no stage shufle; did you mean shuffle?"},
           {"xyzzyplugh(5)", 1, "column 1: there is no stage xyzzyplugh; `sluice ops` lists the stages"},
           {"range(5) | shuffle(0)", 20, "column 20: shuffle: buffer_size must be at least 1, and is 0"},
           {"range(5) | shuffle(ten)", 20,
            "column 20: shuffle: buffer_size expects a whole number, and is ten; as in shuffle(1000)"},
           {"range(5) | shuffle(\"10\")", 20,
            "column 20: shuffle: buffer_size expects a whole number, and is \"10\": write 10"},
           {"range(5) | shuffle(99999999999999999999)", 20,
            "column 20: shuffle: buffer_size expects a whole number, and is 99999999999999999999"},
           {"range(5) | shuffle", 12, "column 12: shuffle: needs buffer_size, as in shuffle(1000)"},
           {"range(5) | shuffle(10, 7)", 24, "column 24: shuffle: 7 needs a name, such as seed=7"},
           {"range(5) | shuffle(10, sead=7)", 24, "column 24: shuffle: has no sead; did you mean seed?"},
           {"range(5) | shuffle(10, buffer_size=7)", 36, "column 36: shuffle: buffer_size is given twice"},
           {"range(5) | take(1, 2)", 20, "column 20: take: takes no more values, and found 2"},
           {"lines(\"f\") | map(length_of, order=random)", 35,
            "column 35: map: order expects deterministic or sloppy, and is random"},
           {"lines(\"f\") | map(length_of, parallelism=0)", 41,
            "column 41: map: parallelism must be at least 1, or autotune, and is 0"},
           {"range(5) | map(length_of)", 12, "column 12: map: expects string, and gets int64"},
           {"range(5) | map(lenght_of)", 16, "column 16: map: there is no function lenght_of; did you mean length_of?"},
           {"range(5) | filter(next_of)", 19,
            "column 19: filter: function: next_of cannot be its function: it makes int64 of int64"},
           {"range(5) | map", 12, "column 12: map: needs a function, as in map(it)"},
           {"lines(\"f\") | interleave", 14,
            "column 14: interleave: needs a function or a reader, such as tfrecord, as in interleave(lines)"},
           {"lines(\"f\") | interleave(lines(\"g\"))", 25,
            "column 25: interleave: inner: the reader has its path already; it gets one from each element"},
           {"lines(\"f\") | interleave(range(3) | take(2))", 25,
            "column 25: interleave: inner: a reader gets a path from each element, and the source of this plan, range, "
            "takes "
            "none: it would be the same for all"},
           {"range(-9223372036854775808, start=-9223372036854775808)", 7,
            "column 7: range: stop: -9223372036854775808 stands for a number that is not given: one more is the least"},
           {"range(5) | interleave(lines)", 12, "column 12: interleave: expects paths, and gets int64"},
           {"lines", 1, "column 1: lines: needs a path, as in lines(\"FILE.txt\")"},
           {"lines(f)", 7, "column 7: lines: path expects a text in quotes, and is f: write \"f\""},
           {"take(5)", 1, "column 1: take: a plan starts with a source, as in csv(\"FILE\", header=true) | take(5)"},
           {"range(5) | range(5)", 12,
            "column 12: range: a source takes no input; to append it, write concatenate(range(5), range(5))"},
           {"zip(range(1))", 1, "column 1: zip: needs two inputs or more, as in zip(range(3), range(3))"},
           {"range(5) | map(<lambda>)", 16,
            "column 16: a lambda cannot be written down; name the function with SLUICE_FUNCTION"},
           {"lines(\"f\") | map(length_of # no call\n (5))", 18,
            "column 18: map: length_of cannot be called in an expression: it is awaited, or makes no value of an "
            "element"},
           {"range(5) | group(next_of)", 12, "column 12: group: needs a function for reduce"},
           {"range(5) | group(next_of, prev_of, 3)", 27,
            "column 27: group: reduce: there is no function prev_of; `sluice ops` lists the functions; the element is "
            "`it`, as in it + 1"},
           {"range(5) | group(next_of, next_of, 3, boundaries=[1, x])", 54,
            "column 54: group: boundaries[1] expects a whole number, and is x"},
           {"range(5) | group(next_of, next_of, 3, boundaries=4)", 50,
            "column 50: group: boundaries expects a list of whole numbers in brackets, and is 4"},
           {"range(5) | columns({a=x})", 23, "column 23: columns: defaults.a expects a number, and is x"},
           {"range(5) | columns({a=1, a=2})", 28, "column 28: columns: defaults: a is given twice"},
           {"range(5) | columns([1])", 20,
            "column 20: columns: defaults expects names in braces, each with = and a number, as in {name=1}, and is a "
            "list"},
           {"range(5) | columns(windows=[{shift=1}])", 29, "column 29: columns: windows[0]: needs size"},
           {"range(5) | columns(windows=[{size=1}, {size=0}])", 45,
            "column 45: columns: windows[1].size must be at least 1, and is 0"},
           {"range(5) | columns(window={size=1, width=2})", 42,
            "column 42: columns: window: has no width (it has size, shift, ahead)"},
           {"range(5) | columns(table=[[1], [2, 0]])", 36,
            "column 36: columns: table[1][1] must be at least 1, and is 0"},
           {"range(5) | columns(limit=some)", 26, "column 26: columns: limit expects a whole number, and is some"},
           {"range(5) | columns(names={x=[\"a\", b]})", 35,
            "column 35: columns: names.x[1] expects a text in quotes, and is b: write \"b\""},
           {"range(5) | route([range(2), lines])", 29, "column 29: lines: needs a path, as in lines(\"FILE.txt\")"},
           {"range(5) | route([], [next_of, 5])", 12,
            "column 12: route: no expression can stand at functions=, which is for functions that C++ registers "
            "(SLUICE_FUNCTION), by their names"},
           {"range(5) | route(inners={a=5})", 12,
            "column 12: route: no expression can stand at inners=, which is for functions that C++ registers "
            "(SLUICE_FUNCTION), by their names"},
           {"join(range(1), range(2))", 1, "column 1: join: needs a function for on"},
           {"join(range(1), range(2), next_of)", 26,
            "column 26: join: on: next_of cannot be its function: it makes int64 of int64"},
           {"range(5) | columns(windows=[1", 30, "column 30: expected ',' or ']', and the text ends"},
           {"range(5) | columns({1=2})", 21, "column 21: expected a name, and found '1'"},
           {"range(5) | columns({a 2})", 23, "column 23: expected '=', and found '2'"},
           {"range(5", 8, "column 8: range: expected ',' or ')', and the text ends; a ) is missing: write range(5)"},
           {"range(5) take(1)", 10, "column 10: expected '|' or the end, and found 'take'; a | is missing before take"},
           {"range(5) |", 11, "column 11: expected a stage, and the text ends; a stage is missing after the last |"},
           {"range(5) | ! ", 12, "column 12: no plan has the character '!' here"},
           {"lines(\"größe\") | €", 18, "column 18: no plan has the character '€' here"},
           {"lines(\"größe\") | take(x)", 23, "column 23: take: n expects a whole number, and is x; as in take(10)"},
           {"range(5) | \xff", 12, "column 12: no plan has the byte 0xff here"},
           {"lines(\"ä\", \"ö", 12, "column 12: this text is not closed by '\"': write \"ö\""},
           {"lines(\"ä\\q\")", 9, "column 9: no such escape; there are \\\" \\\\ \\n \\t \\r and \\xHH"},
           {"lines(\"abc)", 7, "column 7: this text is not closed by '\"': write \"abc\""},
           {"lines(\"a\\q\")", 9, "column 9: no such escape; there are \\\" \\\\ \\n \\t \\r and \\xHH"},
           {"", 1, "column 1: expected a stage, and the text ends"},
       }) {
    INFO(e.text);
    auto r = refused(e.text);
    CHECK(r.column == e.column);
    CHECK(r.message == e.message);
  }
}

TEST_CASE("nesting and length have limits that are reported, not reached by the stack") {
  scoped_operators scope(test::fake_operators());
  std::string nested, chain = "range(1)";
  for (int i = 0; i != 100000; ++i) nested += "zip(";
  for (int i = 0; i != 100000; ++i) chain += "|take(1)";
  CHECK(refused(nested).message.find("plans are nested more than 1000 stages deep") != std::string::npos);
  CHECK(refused("range(" + std::string(100'000, '[')).message.find("nested more than 1000 stages deep") !=
        std::string::npos);
  CHECK(refused(chain).message.find("more than 1000 stages deep") != std::string::npos);
}

TEST_CASE("random plans are equal after text and after JSON") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  auto seed = seed_of_run();
  INFO("SLUICE_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  std::size_t longest = 0;
  for (int i = 0; i != 20000; ++i) {
    auto plan = test::random_plan(random, 1 + static_cast<int>(random() % 6));
    auto text = plan_text(*plan);
    longest = std::max(longest, text.size());
    INFO(text);
    auto again = parse_plan(text);
    auto of_json = parse_plan_json(plan_json(*plan));
    bool text_holds =
        same_plan(*plan, *again) && again->type == plan->type && fingerprint(*again) == fingerprint(*plan);
    bool json_holds =
        same_plan(*plan, *of_json) && of_json->type == plan->type && fingerprint(*of_json) == fingerprint(*plan);
    if (!text_holds || !json_holds || plan_text(*again) != text) {
      CHECK(text_holds);
      CHECK(json_holds);
      CHECK(plan_text(*again) == text);
      return;
    }
  }
  CHECK(longest > 1000);  // the generator does make large plans
}

TEST_CASE("damaged texts are refused at a column inside the text, or are plans") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  auto seed = seed_of_run();
  INFO("SLUICE_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  int rejected = 0;
  for (int i = 0; i != 4000; ++i) {
    auto text = plan_text(*test::random_plan(random, 4));
    for (auto n = 1 + random() % 3; n != 0 && !text.empty(); --n) {
      auto at = random() % text.size();
      switch (random() % 4) {
        case 0: text.erase(at, 1 + random() % 5); break;
        case 1: text[at] = static_cast<char>(random()); break;
        case 2: text.insert(at, text.substr(random() % text.size(), 4)); break;
        default: text.resize(at);
      }
    }
    INFO(text);
    try {
      parse_plan(text);
    } catch (const plan_error& e) {
      ++rejected;
      REQUIRE(e.column() >= 1);
      REQUIRE(e.column() <= text.size() + 1);
    }
  }
  CHECK(rejected > 1000);
}

TEST_CASE("damaged JSON is refused as an invalid argument, or is a plan that both forms give back") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  auto seed = seed_of_run();
  INFO("SLUICE_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  static constexpr std::string_view kPieces[] = {"[", "]",     "{",    "}",    ",",     ":",
                                                 "1", "\"a\"", "null", "true", "[1,2]", "{}"};
  int rejected = 0, read = 0;
  for (int i = 0; i != 6000; ++i) {
    auto text = plan_json(*test::random_plan(random, 4));
    for (auto n = 1 + random() % 2; n != 0 && !text.empty(); --n) {
      auto at = random() % text.size();
      switch (random() % 4) {
        case 0: text.erase(at, 1 + random() % 3); break;
        case 1: text.replace(at, 1, kPieces[random() % std::size(kPieces)]); break;
        case 2: text.insert(at, kPieces[random() % std::size(kPieces)]); break;
        default: {  // a value becomes another
          auto colon = text.find(':', at);
          if (colon != text.npos) text.replace(colon + 1, 1 + random() % 6, kPieces[random() % std::size(kPieces)]);
        }
      }
    }
    INFO(text);
    try {
      auto plan = parse_plan_json(text);
      ++read;
      REQUIRE(same_plan(*plan, *parse_plan_json(plan_json(*plan))));
      REQUIRE(same_plan(*plan, *parse_plan(plan_text(*plan))));
    } catch (const error& e) {
      ++rejected;
      REQUIRE(e.code() == status_code::invalid_argument);
    }
  }
  CHECK(rejected > 1000);
  CHECK(read > 100);
}

}  // namespace sluice::lib::text_test
