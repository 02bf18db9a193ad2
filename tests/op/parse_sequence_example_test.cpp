// SPDX-License-Identifier: Apache-2.0
// sluice/op/parse_sequence_example.hpp
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "support/sequence_bytes.hpp"

namespace sluice::lib::parse_sequence_example_test {
namespace {

using namespace test;

struct clip {
  std::int64_t id = -1;
  std::optional<std::string> name;
};
struct frames {
  std::vector<std::int64_t> label;
  std::vector<std::array<float, 2>> audio;
  std::vector<std::vector<std::int64_t>> tokens;
};
constexpr auto kSchemas =
    R"(context="id: int64, name: bytes?", sequence="label: int64, audio: float[2], tokens: int64[]")";

/// Record i: of i % 3 steps, the last label wrong where i % 5 == 3.
std::string sequence_record(std::int64_t i) {
  sequence_bytes w;
  w.context.int64("id", i);
  if (i % 2 == 0) w.context.bytes("name", "clip " + std::to_string(i));
  std::vector<std::string> label, audio, tokens;
  for (std::int64_t step = 0; step != i % 3; ++step) {
    label.push_back(int64_step({10 * i + step}));
    audio.push_back(float_step({0.5f * static_cast<float>(i), static_cast<float>(step)}));
    tokens.push_back(int64_step(std::vector<std::int64_t>(static_cast<std::size_t>(step), i)));
  }
  if (i % 5 == 3) label.push_back(float_step({1}));
  return w.list("tokens", tokens).list("label", label).list("audio", audio).finish();
}
dataset<std::string> sequence_records(int n) {
  std::vector<std::string> all;
  for (int i = 0; i != n; ++i) all.push_back(sequence_record(i));
  return from_elements(all);
}
node_ptr by_text(const node_ptr& in, const std::string& context, const std::string& sequence,
                 std::int64_t parallelism = 1) {
  parse_sequence_example_options o;
  o.context = context;
  o.sequence = sequence;
  o.parallelism = parallelism;
  return make_stage(parse_sequence_example_op, arguments::of(parse_sequence_example_arguments{o}), in);
}

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

TEST_CASE("structs and texts give the same sequences, sequential or parallel") {
  auto sound = sequence_records(3);
  auto typed = printed((sound | parse_sequence_example<clip, frames>()).plan());
  REQUIRE(typed.why.ok());
  CHECK(
      typed.lines ==
      std::vector<std::string>{
          R"({"context":{"id":0,"name":"clip 0"},"sequence":{"label":[],"audio":[],"tokens":[]}})",
          R"({"context":{"id":1,"name":null},"sequence":{"label":[10],"audio":[[0.5,0.0]],"tokens":[[]]}})",
          R"({"context":{"id":2,"name":"clip 2"},"sequence":{"label":[20,21],"audio":[[1.0,0.0],[1.0,1.0]],"tokens":[[],[2]]}})"});
  const std::string context = "id: int64, name: bytes?", sequence = "label: int64, audio: float[2], tokens: int64[]";
  for (std::int64_t parallelism : {1, 3}) {
    CHECK(printed(by_text(sound.plan(), context, sequence, parallelism)).lines == typed.lines);
    CHECK(printed((sound | parse_sequence_example<clip, frames>({.parallelism = parallelism})).plan()).lines ==
          typed.lines);
    auto records = sound | map([](const std::string& s) { return record(slice::copy_of(s)); });
    CHECK(printed((records | parse_sequence_example<clip, frames>({.parallelism = parallelism})).plan()).lines ==
          typed.lines);
  }
  CHECK(printed(by_text(sound.plan(), "id: int64", "")).lines[1] == R"({"context":{"id":1},"sequence":{}})");
  CHECK(printed(by_text(sound.plan(), "", "label: int64")).lines[1] == R"({"context":{},"sequence":{"label":[10]}})");
}

TEST_CASE("sequences stack into batches, and expressions reach their members") {
  const std::string context = "id: int64, name: bytes?", sequence = "label: int64, audio: float[2], tokens: int64[]";
  for (const dataset<std::string>& sound : {sequence_records(3), sequence_records(2)}) {
    auto one_by_one = printed(by_text(sound.plan(), context, sequence));
    for (const node_ptr& plan : {by_text(sound.plan(), context, sequence), by_text(sound.plan(), "", sequence),
                                 by_text(sound.plan(), context, "")}) {
      auto batched = printed(make_stage(batch_op, arguments::of(batch_arguments{2}), plan));
      CHECK(batched.why.ok());
      CHECK(batched.lines.size() == (one_by_one.lines.size() + 1) / 2);
    }
    auto again = printed((sound | parse_sequence_example<clip, frames>() | batch(2) | unbatch()).plan());
    CHECK(again.lines == one_by_one.lines);
  }
  auto plan = parse_plan(std::string("tfrecord(\"a\") | parse_sequence_example(") + kSchemas +
                         ") | filter(context.id != 3) | map({id: context.id, steps: length(sequence.label)})");
  CHECK(plan->type->members[1].name == "steps");
}

TEST_CASE("a record that does not fit names the stage, the feature list and the step; skipped ones are counted") {
  for (std::int64_t parallelism : {1, 2}) {
    CAPTURE(parallelism);
    node_ptr plan = (sequence_records(20) | parse_sequence_example<clip, frames>({.parallelism = parallelism})).plan();
    auto got = printed(plan);
    CHECK(got.lines.size() == 3);
    CHECK(got.why.code() == status_code::invalid_argument);
    CHECK(got.why.where().stage == "parse_sequence_example");
    CHECK(got.why.message() == "feature list \"label\", step 0: holds float values, expected int64");
    auto skipped = printed(plan, {.on_error = error_policy::skip});
    CHECK(skipped.why.ok());
    CHECK(skipped.lines.size() == 16);
    CHECK(skipped.report.errors == 4);
  }
}

TEST_CASE("feature lists that may be missing are named in C++, and marked in text") {
  struct steps {
    std::vector<std::int64_t> label;
    std::vector<std::int64_t> weight;
  };
  auto sound = sequence_records(3);
  auto missing = [](std::vector<std::string> names) {
    return parse_sequence_example<no_features, steps>({.may_be_missing = std::move(names)});
  };
  CHECK(printed((sound | missing({})).plan()).why.message() == "feature list \"weight\" is missing");
  auto got = printed((sound | missing({"weight"})).plan());
  REQUIRE(got.lines.size() == 3);
  CHECK(got.lines[1] == R"({"context":{},"sequence":{"label":[10],"weight":[]}})");
  CHECK(printed(by_text(sound.plan(), "", "label: int64, weight: int64?")).lines == got.lines);
  CHECK(stage_text(*(sound | missing({"weight"})).plan()) ==
        "parse_sequence_example(sequence=\"label: int64, weight: int64?\")");
  CHECK(stage_text(*(sound | parse_sequence_example<clip, no_features>()).plan()) ==
        "parse_sequence_example(context=\"id: int64, name: bytes?\")");
  CHECK_THROWS_WITH((sound | parse_sequence_example<no_features, no_features>()), Catch::Contains("needs a context"));
  CHECK_THROWS_WITH(sound | missing({"wait"}), Catch::Contains("there is no feature list \"wait\""));
}

TEST_CASE("the stage prints as text that makes the same sequences") {
  auto typed = tfrecord("a") | parse_sequence_example<clip, frames>({.parallelism = 4, .order = sloppy}) | batch(8);
  std::string text = plan_text(*typed.plan());
  CHECK(text == std::string("tfrecord(\"a\") | parse_sequence_example(") + kSchemas +
                    ", parallelism=4, order=sloppy) | batch(8)");
  auto read = parse_plan(text);
  CHECK(plan_text(*read) == text);
  CHECK(fingerprint(*read) == fingerprint(*typed.plan()));
  CHECK(serialisable(*typed.plan()).ok());
  CHECK(plan_text(*parse_plan_json(plan_json(*typed.plan()))) == text);
  const element_type& row = *read->type->element;
  CHECK(row.members.size() == 2);
  CHECK(row.members[1].type->members[1].type->name == "float[2][]");
  auto other = parse_plan(std::string("tfrecord(\"a\") | parse_sequence_example(") + kSchemas + ") | batch(8)");
  CHECK(fingerprint(*other) != fingerprint(*read));  // another order
}

}  // namespace
}  // namespace sluice::lib::parse_sequence_example_test
