// SPDX-License-Identifier: Apache-2.0
// sluice/op/parse_sequence_example.hpp
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/bytes/sequence_bytes.hpp"
#include "support/trials/printed_run.hpp"

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

}  // namespace

TEST_CASE("structs and texts give the same sequences, sequential or parallel") {
  auto sound = sequence_records(3);
  const std::string context = "id: int64, name: bytes?", sequence = "label: int64, audio: float[2], tokens: int64[]";
  for (std::int64_t parallelism : {1, 3}) {
    const printed_run by = run_of(by_text(sound.plan(), context, sequence, parallelism));
    CHECK(by.elements.size() == 3);
    auto typed = sound | parse_sequence_example<clip, frames>({.parallelism = parallelism});
    CHECK(run_of(typed.plan()).elements == by.elements);
    CHECK(run_of((typed | batch(2) | unbatch()).plan()).elements == by.elements);
    auto records = sound | map([](const std::string& s) { return record(slice::copy_of(s)); });
    CHECK(run_of((records | parse_sequence_example<clip, frames>({.parallelism = parallelism})).plan()).elements ==
          by.elements);
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
  CHECK_THAT(run_of((sound | missing({})).plan()).end, Catch::Contains("feature list \"weight\" is missing"));
  auto got = run_of((sound | missing({"weight"})).plan());
  REQUIRE(got.elements.size() == 3);
  CHECK(got.elements[1] == R"({"context":{},"sequence":{"label":[10],"weight":[]}})");
  CHECK(run_of(by_text(sound.plan(), "", "label: int64, weight: int64?")).elements == got.elements);
  CHECK(stage_text(*(sound | missing({"weight"})).plan()) ==
        "parse_sequence_example(sequence=\"label: int64, weight: int64?\")");
  CHECK(stage_text(*(sound | parse_sequence_example<clip, no_features>()).plan()) ==
        "parse_sequence_example(context=\"id: int64, name: bytes?\")");
  CHECK_THROWS_WITH((sound | parse_sequence_example<no_features, no_features>()), Catch::Contains("needs a context"));
  CHECK_THROWS_WITH(sound | missing({"wait"}), Catch::Contains("there is no feature list \"wait\""));
}

TEST_CASE("the stage prints as text that makes the same sequences") {
  auto typed = tfrecord("a") | parse_sequence_example<clip, frames>({.parallelism = 4, .order = sloppy}) | batch(8);
  const std::string reader = std::string("tfrecord(\"a\") | parse_sequence_example(") + kSchemas;
  const std::string text = reader + ", parallelism=4, order=sloppy) | batch(8)";
  CHECK(plan_text(*typed.plan()) == text);
  CHECK(plan_text(*parse_plan(text)) == text);
  CHECK(plan_text(*parse_plan_json(plan_json(*typed.plan()))) == text);
  auto read = parse_plan(plan_text(*typed.plan()));
  CHECK(fingerprint(*read) == fingerprint(*typed.plan()));
  CHECK(serialisable(*typed.plan()).ok());
  const element_type& row = *read->type->element;
  CHECK(row.members.size() == 2);
  CHECK(row.members[1].type->members[1].type->name == "float[2][]");
  CHECK(fingerprint(*parse_plan(reader + ") | batch(8)")) != fingerprint(*read));  // another order
}

}  // namespace sluice::lib::parse_sequence_example_test
