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

namespace sluice::lib::parse_example_test {
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
  CHECK(typed.lines[0] == R"({"text":"text 0","label":0,"values":[0.0,0.25],"tags":[],"score":0.0})");
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
}

TEST_CASE("a schema's text is read back, and an error names the feature") {
  auto layout = layout_of(" image/encoded :bytes,n:int64 [ 3 ], f : float[]");
  REQUIRE(layout.ok());
  CHECK(schema_text(layout->schema) == "image/encoded: bytes, n: int64[3], f: float[]");
  CHECK(refusal("a: float[2,?]").ends_with("found \"float[2\""));
  CHECK(refusal("a: float[1,1,1,1,1,1,1,1,1]").ends_with("found \"float[1\""));
}

struct picture {
  tensor pixels;
  std::int64_t label = 0;
  std::vector<std::string> tags;
  std::optional<std::array<float, 2>> box;
  std::optional<std::vector<std::int64_t>> ids;
};

std::string picture_example(int i) {
  example_writer w;
  float values[] = {1, 2, 3, static_cast<float>(i)};
  w.floats("image/raw", values, 4);
  std::int64_t ids[] = {7, 8};
  if (i % 2 == 0) w.int64("class", i).floats("box", values, 2).int64s("ids", ids, static_cast<std::size_t>(i));
  return std::string(w.finish());
}

TEST_CASE("a struct's schema has other names, defaults and shapes, alone and in batches") {
  constexpr auto kPicture =
      "pixels = 'image/raw': float[2,2], label = 'class': int64 = -1, tags: bytes[] = ['none', 'x']";
  auto in = from_elements(std::vector<std::string>{picture_example(0), picture_example(1), picture_example(2)});
  auto alone = printed((in | parse_example<picture>(kPicture)).plan());
  REQUIRE(alone.why.to_string() == "ok");
  CHECK(alone.lines[0] == R"({"pixels":[[1.0,2.0],[3.0,0.0]],"label":0,"tags":["none","x"],"box":[1.0,2.0],"ids":[]})");
  CHECK(alone.lines[1] == R"({"pixels":[[1.0,2.0],[3.0,1.0]],"label":-1,"tags":["none","x"],"box":null,"ids":null})");
  CHECK(alone.lines[2] ==
        R"({"pixels":[[1.0,2.0],[3.0,2.0]],"label":2,"tags":["none","x"],"box":[1.0,2.0],"ids":[7,8]})");
  for (std::int64_t parallelism : {1, 2}) {
    map_options o{.parallelism = parallelism};
    auto behind = printed((in | parse_example<picture>(kPicture, o) | batch(2)).plan());
    CHECK(
        behind.lines[0] ==
        R"({"pixels":[[[1.0,2.0],[3.0,0.0]],[[1.0,2.0],[3.0,1.0]]],"label":[0,-1],"tags":[["none","x"],["none","x"]],)"
        R"("box":[[1.0,2.0],null],"ids":[[],null]})");
    CHECK(printed((in | batch(2) | parse_example<picture>(kPicture, o)).plan()).lines == behind.lines);
  }
  // As text the same, with members that C++ has not named.
  const auto typed = (in | parse_example<picture>(kPicture)).plan();
  const std::string text = typed->as<parse_example_arguments>().schema.value;
  CHECK(text ==
        "pixels = 'image/raw': float[2,2], label = 'class': int64 = -1, tags: bytes[] = ['none', 'x'], "
        "box: float[2]?, ids: int64[]?");
  CHECK(printed(by_text(in.plan(), text)).lines == alone.lines);
  CHECK(printed(by_text((in | batch(3)).plan(), text)).lines ==
        printed((in | parse_example<picture>(kPicture) | batch(3)).plan()).lines);
  CHECK_THROWS_WITH(in | parse_example<picture>("pixel: float[2,2]"),
                    "invalid_argument: parse_example: column 1: picture has no member pixel");
  CHECK_THROWS_WITH(in | parse_example<picture>("label: float"),
                    "invalid_argument: parse_example: column 1: member label: the schema says float, and the structure "
                    "has int64");
  CHECK_THROWS_WITH(
      in | parse_example<picture>("pixels: float"),
      "invalid_argument: parse_example: column 1: member pixels: the schema says float, and the structure "
      "has a tensor");
  CHECK_THROWS_WITH(in | parse_example<picture>("label: int64 = 1"),
                    "invalid_argument: parse_example: member pixels is a tensor, and the schema does not say of what: "
                    "pixels: float[28,28]");
  CHECK_THROWS_WITH(in | parse_example<picture>("pixels: float[2,2], label = 'ids': int64"),
                    "invalid_argument: parse_example: feature ids is of the members label and ids");
}

TEST_CASE("tensors of a schema are filled where they are, and errors name the feature") {
  auto in = from_elements(std::vector<std::string>{picture_example(0), picture_example(2)});
  auto of = [&](const std::string& schema) { return printed(by_text(in.plan(), schema)); };
  CHECK(of("t = 'image/raw': float[?,2]").lines[1] == R"({"t":[[1.0,2.0],[3.0,2.0]]})");
  CHECK(of("t = 'image/raw': float[?]").lines[1] == R"({"t":[1.0,2.0,3.0,2.0]})");
  CHECK(of("t = 'image/raw': float[?,3]").why.message() ==
        "feature \"image/raw\" has 4 values, expected a multiple of 3");
  // Of other numbers of values than rows take nothing is written: alone, and in batches whose tensors have a shape by then.
  for (std::size_t n : {1u, 3u, 5u, 4097u}) {
    CAPTURE(n);
    const std::vector<float> values(std::max<std::size_t>(n, 4), 1.0F);
    const std::vector<std::int64_t> numbers(n, 300);
    auto uneven = from_elements(std::vector<std::string>{
        picture_example(0),
        std::string(example_writer().floats("image/raw", values.data(), 4).int64s("ids", numbers.data(), 0).finish()),
        std::string(example_writer().floats("image/raw", values.data(), n).int64s("ids", numbers.data(), n).finish())});
    for (const char* schema :
         {"t = 'image/raw': float[?,4]", "t = 'image/raw': float[?,2,2] = []", "t = 'ids': int64[?,2]"}) {
      CAPTURE(schema);
      CHECK_THAT(printed(by_text(uneven.plan(), schema)).why.to_string(), Catch::Contains("expected a multiple of"));
      CHECK_THAT(printed(by_text((uneven | batch(3)).plan(), schema)).why.to_string(),
                 Catch::Contains("row 2 of the batch") && Catch::Contains("expected a multiple of"));
    }
  }
  CHECK(of("t = 'image/raw': float[2,3]").why.message() == "feature \"image/raw\" has 4 values, expected 6");
  CHECK(of("t = 'image/raw': int64[2,2]").why.message() == "feature \"image/raw\" holds float values, expected int64");
  CHECK(of("t: int64[2,2]").why.message() == "feature \"t\" is missing");
  CHECK(of("t: int64[2,2] = 3").lines[0] == R"({"t":[[3,3],[3,3]]})");
  CHECK(of("t: bytes[2,1] = ['a', 'b']").lines[0] == R"({"t":[["a"],["b"]]})");
  // Their lengths differ.
  auto rows = printed(by_text((in | batch(2)).plan(), "ids: int64[?]"));
  CHECK(rows.why.message() == "row 1 of the batch: member ids: row 1 is int64[2], the rows before are int64[0]");
}

struct words {
  sparse_tensor weights;
  ragged_tensor spans;
  std::int64_t label = 0;
};

TEST_CASE("sparse and ragged members are of several features") {
  constexpr auto kWords =
      "weights = sparse('w', 'row', 'column'): float[3,4], spans = ragged('tokens', row_lengths('outer'), "
      "row_splits('inner')): bytes, label: int64 = 5";
  auto example_of = [](std::vector<std::int64_t> rows, std::vector<std::int64_t> outer) {
    example_writer w;
    float values[] = {7, 5};
    std::int64_t columns[] = {3, 1}, inner[] = {0, 2, 3};
    return std::string(w.floats("w", values, 2)
                           .int64s("row", rows.data(), rows.size())
                           .int64s("column", columns, 2)
                           .bytes_list("tokens", {"a", "b", "c"})
                           .int64s("outer", outer.data(), outer.size())
                           .int64s("inner", inner, 3)
                           .finish());
  };
  auto in = from_elements(std::vector<std::string>{example_of({2, 0}, {1, 1}), ""});
  const std::string first = R"({"weights":{"indices":[[0,1],[2,3]],"values":[5.0,7.0],"dense_shape":[3,4]},)"
                            R"("spans":{"values":["a","b","c"],"row_splits":[[0,1,2],[0,2,3]]},"label":5})";
  auto alone = printed((in | parse_example<words>(kWords)).plan());
  REQUIRE(alone.why.to_string() == "ok");
  CHECK(alone.lines[0] == first);
  CHECK(alone.lines[1] == R"({"weights":{"indices":[],"values":[],"dense_shape":[3,4]},)"
                          R"("spans":{"values":[],"row_splits":[[0],[0]]},"label":5})");
  CHECK(printed(by_text(in.plan(), kWords)).lines == alone.lines);
  CHECK(printed((in | batch(2) | parse_example<words>(kWords) | unbatch()).plan()).lines == alone.lines);
  const std::string text = (in | parse_example<words>(kWords)).plan()->as<parse_example_arguments>().schema.value;
  CHECK(text == kWords);
  auto refused = [&](std::vector<std::int64_t> rows, std::vector<std::int64_t> outer) {
    auto one = from_elements(std::vector<std::string>{example_of(std::move(rows), std::move(outer))});
    const std::string why(printed(by_text(one.plan(), kWords)).why.message());
    CHECK(printed(by_text((one | batch(1)).plan(), kWords)).why.message() == "row 0 of the batch: " + why);
    return why;
  };
  CHECK(refused({2}, {1, 1}) == "feature \"row\" has 1, and \"w\" 2 values");
  CHECK(refused({2, 3}, {1, 1}) ==
        "feature \"w\" makes no tensor: sparse_tensor: value 1 is at [3,1], which is not in [3,4]");
  CHECK(refused({2, 0}, {1}) == "feature \"outer\" parts 1 from 0 on, and there are 2");
  CHECK(refused({2, 0}, {3}) == "feature \"outer\" has the length 3, and there are 2");
  CHECK(refused({2, 0}, {-1, 3}) == "feature \"outer\" has the length -1, and there are 2");

  CHECK(refusal("w = sparse('w', 'i'): float[1000000000]").empty());
}

}  // namespace
}  // namespace sluice::lib::parse_example_test
