// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/parse_example.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/format/example.hpp"
#include "sluice/format/example_layout.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/verb_case.hpp"

namespace sluice::lib {
namespace {

constexpr auto kSchema = "text: bytes, label: int64, values: float[2], tags: bytes[], score: float?";

struct sample {
  std::string text;
  std::int64_t label = 0;
  std::array<float, 2> values{};
  std::vector<std::string> tags;
  std::optional<float> score;
};

/// Example i; those with i % 5 == 3 lack their label.
std::string example(int i) {
  example_writer w;
  float values[] = {0.5f * static_cast<float>(i), 0.25f};
  w.bytes("text", "text " + std::to_string(i)).floats("values", values, 2);
  if (i % 5 != 3) w.int64("label", i);
  w.bytes_list("tags", std::vector<std::string>(static_cast<std::size_t>(i % 3), "tag"));
  if (i % 2 == 0) w.floats("score", values, 1);
  return std::string(w.finish());
}

dataset<std::string> examples(int n, int step = 1) {
  std::vector<std::string> all;
  for (int i = 0; i < n; i += step) all.push_back(example(i));
  return from_elements(all);
}

// --- For the random plans: a number in an example, and read from it. ---

struct numbered {
  std::int64_t number = 0;
};
std::string example_of(std::int64_t x, std::string_view feature) {
  example_writer w;
  return std::string(w.int64(feature, x).finish());
}
dataset<std::int64_t> parsed(const dataset<std::string>& examples, std::int64_t parallelism) {
  return examples | parse_example<numbered>({.parallelism = parallelism}) |
         map([](const numbered& n) { return n.number; });
}
dataset<std::string> sound_examples(const dataset<std::int64_t>& in) {
  return in | map([](std::int64_t x) { return example_of(x, "number"); });
}
test::int64s as_they_are(const test::verb_lists& l) { return l.in(); }

const test::register_verb parse_example_case(
    "parse_example", {.any_order = true,
                      .has_knob = true,
                      .passes_errors = true,
                      .build = [](const test::verb_plan& p) { return parsed(sound_examples(p.in[0]), p.knob_or(1)); },
                      .expected = as_they_are,
                      .needs = [](const test::verb_use&, std::size_t k) { return k; }});
const test::register_verb parse_example_parallel_case(
    "parse_example parallel",
    {.any_order = true,
     .has_knob = true,
     .passes_errors = true,
     .build = [](const test::verb_plan& p) { return parsed(sound_examples(p.in[0]), p.knob_or(p.a)); },
     .expected = as_they_are,
     .resume = {.a = 2, .held = 4 * 1024}});
const test::register_verb parse_example_failing_case("parse_example failing",  // some lack their feature
                                                     {.any_order = true,
                                                      .meets_errors = true,
                                                      .has_knob = true,
                                                      .build =
                                                          [](const test::verb_plan& p) {
                                                            auto some = [b = p.b](std::int64_t x) {
                                                              return example_of(
                                                                  x, test::is_bad(x, b) ? "another" : "number");
                                                            };
                                                            return parsed(p.in[0] | map(some), p.knob_or(p.a));
                                                          },
                                                      .expected =
                                                          [](const test::verb_lists& l) {
                                                            test::int64s out;
                                                            for (std::int64_t x : l.in())
                                                              if (!test::is_bad(x, l.b)) out.push_back(x);
                                                            return out;
                                                          }});

dataset<std::int64_t> parsed_by_batch(const dataset<std::int64_t>& in, std::int64_t rows, std::int64_t parallelism) {
  return sound_examples(in) | batch(rows) | parse_example<numbered>({.parallelism = parallelism}) | unbatch() |
         map([](const numbered& n) { return n.number; });
}
const test::register_verb parse_example_batches_case(
    "parse_example batches",
    {.any_order = true,
     .has_knob = true,
     .build = [](const test::verb_plan& p) { return parsed_by_batch(p.in[0], 1 + p.a % 5, p.knob_or(1)); },
     .expected = as_they_are,
     .needs = [](const test::verb_use& u, std::size_t k) { return (k + u.a % 5) / (1 + u.a % 5) * (1 + u.a % 5); }});

struct outcome {
  std::vector<std::string> lines;
  status why;
  run_report report;
};

task<void> print_all(any_stream s, outcome& to) {
  for (bool more = true; more;) {
    auto got = co_await s.try_next_block({0, 7});
    for (std::uint32_t i = 0; i != got.view.size(); ++i) print(s.type(), got.view.at(i), to.lines.emplace_back());
    to.why = got.why;
    more = static_cast<bool>(got.view);
  }
  to.report = report_of(s);
}

outcome printed(const node_ptr& plan, iterate_options o = {}) {
  runtime rt({.workers = 1});
  outcome to;
  sync_wait(rt, print_all(open_run(rt, plan, o), to));
  return to;
}

std::string refusal(const std::string& schema) {
  auto layout = layout_of(schema);
  return layout.ok() ? "" : std::string(layout.why().message());
}

/// The same stage with a schema as text, over any input.
node_ptr by_text(const node_ptr& in, const std::string& schema, map_options o = {}) {
  return make_stage(parse_example_op, arguments::of(parse_example_arguments{schema, o}), in);
}

TEST_CASE("a struct and a schema's text give the same elements, sequential or parallel") {
  auto sound = from_elements(std::vector<std::string>{example(0), example(1), example(2)});
  auto typed = printed((sound | parse_example<sample>()).plan());
  REQUIRE(typed.why.ok());
  REQUIRE(typed.lines.size() == 3);
  CHECK(typed.lines[0] == R"({"text":"text 0","label":0,"values":[0,0.25],"tags":[],"score":0})");
  CHECK(typed.lines[1] == R"({"text":"text 1","label":1,"values":[0.5,0.25],"tags":["tag"],"score":null})");
  CHECK(printed(by_text(sound.plan(), kSchema)).lines == typed.lines);
  CHECK(printed(by_text(sound.plan(), kSchema, {.parallelism = 3})).lines == typed.lines);
  CHECK(printed((sound | parse_example<sample>({.parallelism = autotune})).plan()).lines == typed.lines);
}

TEST_CASE("batches of records become the batches that parse_example and batch give") {
  for (int n : {0, 1, 2, 3, 7, 100}) {
    std::vector<std::string> all;
    for (int i = 0; i != n; ++i) all.push_back(example(i % 5 == 3 ? i + 1 : i));
    auto sound = from_elements(all);
    CAPTURE(n);
    auto expected = printed((sound | parse_example<sample>() | batch(3)).plan());
    REQUIRE(expected.why.ok());
    CHECK(expected.lines.size() == static_cast<std::size_t>((n + 2) / 3));
    for (std::int64_t parallelism : {1, 3}) {
      map_options o{.parallelism = parallelism};
      dataset<batched<sample>> typed = sound | batch(3) | parse_example<sample>(o);
      CHECK(printed(typed.plan()).lines == expected.lines);
      CHECK(printed(by_text((sound | batch(3)).plan(), kSchema, o)).lines == expected.lines);
      auto records = sound | map([](const std::string& s) { return record(slice::copy_of(s)); });
      CHECK(printed((records | batch(3) | parse_example<sample>(o)).plan()).lines == expected.lines);
    }
  }
}

TEST_CASE("the rows that unbatch leaves of a batch are parsed, and no others") {
  auto sound = from_elements(std::vector<std::string>{example(0), example(1), example(2), example(4)});
  auto got = printed((sound | batch(4) | unbatch() | skip(1) | batch(2) | parse_example<sample>() | unbatch()).plan());
  auto expected = printed((sound | parse_example<sample>() | skip(1)).plan());
  CHECK(got.lines == expected.lines);
  CHECK(got.lines.size() == 3);
}

TEST_CASE("a row of a batch that does not fit is named, and its batch is dropped where errors are skipped") {
  for (std::int64_t parallelism : {1, 2}) {
    CAPTURE(parallelism);
    node_ptr plan = (examples(12) | batch(3) | parse_example<sample>({.parallelism = parallelism})).plan();
    auto got = printed(plan);
    CHECK(got.lines.size() == 1);
    CHECK(got.why.code() == status_code::invalid_argument);
    CHECK(got.why.where().stage == "parse_example");
    CHECK(got.why.message() == "row 0 of the batch: feature \"label\" is missing");
    auto skipped = printed(plan, {.on_error = error_policy::skip});
    CHECK(skipped.why.ok());
    CHECK(skipped.lines.size() == 2);  // rows 3 and 8 of 12 do not fit
    CHECK(skipped.report.errors == 2);
  }
}

TEST_CASE("an example that does not fit names the stage and the feature") {
  for (std::int64_t parallelism : {1, 2}) {
    auto got = printed((examples(10) | parse_example<sample>({.parallelism = parallelism})).plan());
    CHECK(got.lines.size() == 3);
    CHECK(got.why.code() == status_code::invalid_argument);
    CHECK(got.why.where().stage == "parse_example");
    CHECK(got.why.message() == "feature \"label\" is missing");
  }
}

TEST_CASE("more parallelism than a parser can have is refused where the plan is made") {
  CHECK_NOTHROW(examples(3) | parse_example<sample>({.parallelism = 65'536}));
  CHECK_THROWS_WITH(examples(3) | parse_example<sample>({.parallelism = 65'537}),
                    Catch::Contains("parse_example: parallelism must be at most 65536, and is 65537"));
}

TEST_CASE("examples that do not fit are dropped and counted where errors are skipped") {
  for (std::int64_t parallelism : {1, 2}) {
    auto got =
        printed(by_text(examples(20).plan(), kSchema, {.parallelism = parallelism}), {.on_error = error_policy::skip});
    CHECK(got.why.ok());
    CHECK(got.lines.size() == 16);
    CHECK(got.report.errors == 4);
    REQUIRE(got.report.first_errors.size() == 4);
    CHECK(got.report.first_errors[0].where().stage == "parse_example");
  }
}

TEST_CASE("the stage prints as text that makes the same elements") {
  auto typed = tfrecord("a.tfrecord") | parse_example<sample>({.parallelism = 4}) | batch(8);
  std::string text = plan_text(*typed.plan());
  CHECK(text == std::string("tfrecord(\"a.tfrecord\") | parse_example(\"") + kSchema + "\", parallelism=4) | batch(8)");
  auto read = parse_plan(text);
  CHECK(plan_text(*read) == text);
  CHECK(fingerprint(*read) == fingerprint(*typed.plan()));
  CHECK(serialisable(*typed.plan()).ok());
  CHECK(plan_text(*parse_plan_json(plan_json(*typed.plan()))) == text);
  CHECK(read->type->element->members.size() == 5);
  CHECK_THROWS_WITH(parse_plan("tfrecord(\"a\") | parse_example"),
                    "invalid_argument: column 17: parse_example: needs a schema");
  CHECK_THROWS_WITH(parse_plan("range(3) | parse_example(\"a: int64\")"),
                    "invalid_argument: column 12: parse_example: expects records that hold tf.Examples, or batches of "
                    "them, and gets int64");
}

TEST_CASE("a schema's text reads back, and a wrong one says which feature") {
  auto layout = layout_of(" image/encoded :bytes,n:int64 [ 3 ], f : float[]");
  REQUIRE(layout.ok());
  CHECK(schema_text(layout->schema) == "image/encoded: bytes, n: int64[3], f: float[]");
  CHECK(refusal("") == "expected a feature such as label: int64, and found \"\"");
  CHECK(refusal("a") == "expected a feature such as label: int64, and found \"a\"");
  CHECK(refusal("a: byte") ==
        "feature a is bytes, int64 or float, then nothing, [], [16] or ?; and \"byte\" is none of these");
  for (std::string shape : {"[0]", "[-1]", "[x]", "[3", "??", "[99999999999999999999]", "[1000000000]"})
    CHECK(refusal("a: float" + shape).find("\"float" + shape + "\" is none of these") != std::string::npos);
  CHECK(refusal("a: int64, a: bytes") == "feature a is there twice");
}

}  // namespace
}  // namespace sluice::lib
