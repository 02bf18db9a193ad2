// SPDX-License-Identifier: Apache-2.0
// sluice/op/parse_example.hpp: structs of C++. What schemas as texts yield is in tests/verbs/parse_example.tsv.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/format/example.hpp"
#include "sluice/format/example_layout.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/printed_run.hpp"

namespace sluice::lib::parse_example_test {
namespace {

using namespace test;

struct sample {
  std::string text;
  std::int64_t label = 0;
  std::array<float, 2> values{};
  std::vector<std::string> tags;
  std::optional<float> score;
};
constexpr auto kSchema = "text: bytes, label: int64, values: float[2], tags: bytes[], score: float?";
/// Example i; those with i % 5 == 3 lack their label.
std::string example(std::int64_t i) {
  example_writer w;
  float values[] = {0.5f * static_cast<float>(i), 0.25f};
  w.bytes("text", "text " + std::to_string(i)).floats("values", values, 2);
  if (i % 5 != 3) w.int64("label", i);
  w.bytes_list("tags", std::vector<std::string>(static_cast<std::size_t>(i % 3), "tag"));
  if (i % 2 == 0) w.floats("score", values, 1);
  return std::string(w.finish());
}

struct picture {
  tensor pixels;
  std::int64_t label = 0;
  std::vector<std::string> tags;
  std::optional<std::array<float, 2>> box;
  std::optional<std::vector<std::int64_t>> ids;
};
constexpr auto kPicture =
    "pixels = 'image/raw': float[2,2], label = 'class': int64 = -1, tags: bytes[] = ['none', 'x']";
std::string picture_example(std::int64_t i) {
  example_writer w;
  float values[] = {1, 2, 3, static_cast<float>(i)};
  w.floats("image/raw", values, 4);
  std::int64_t ids[] = {7, 8};
  if (i % 2 == 0) w.int64("class", i).floats("box", values, 2).int64s("ids", ids, static_cast<std::size_t>(i));
  return std::string(w.finish());
}

struct words {
  sparse_tensor weights;
  ragged_tensor spans;
  std::int64_t label = 0;
};
constexpr auto kWords =
    "weights = sparse('w', 'row', 'column'): float[3,4], spans = ragged('tokens', row_lengths('outer'), "
    "row_splits('inner')): bytes, label: int64 = 5";
std::string words_example(std::int64_t i) {
  example_writer w;
  if (i == 1) return {};
  float values[] = {7, 5};
  std::int64_t rows[] = {2, 0}, columns[] = {3, 1}, outer[] = {1, 1}, inner[] = {0, 2, 3};
  w.floats("w", values, 2).int64s("row", rows, 2).int64s("column", columns, 2).bytes_list("tokens", {"a", "b", "c"});
  return std::string(w.int64s("outer", outer, 2).int64s("inner", inner, 3).finish());
}

/// The stage with a schema as text, over any input.
node_ptr by_text(const node_ptr& in, const std::string& schema, map_options o = {}) {
  return make_stage(parse_example_op, arguments::of(parse_example_arguments{schema, example_packing::none, o}), in);
}

/// `parse(o)`, which parses a struct, yields what the schema's text yields: alone, in batches, of texts and of records.
template <class Parse>
void same_by_text(std::string (*example)(std::int64_t), const Parse& parse, const std::string& text) {
  const auto in = range(3) | map(example);
  const auto records = in | map([](const std::string& s) { return record(slice::copy_of(s)); });
  CHECK((in | parse(map_options())).plan()->template as<parse_example_arguments>().schema.value == text);
  for (knob parallelism : {knob(1), knob(3), autotune}) {
    const map_options o{.parallelism = parallelism};
    const printed_run alone = run_of(by_text(in.plan(), text, o));
    CHECK(alone.elements.size() == 3);
    CHECK(run_of((in | parse(o)).plan()).elements == alone.elements);
    const auto batches = in | batch(2) | parse(o);
    const printed_run behind = run_of((in | parse(o) | batch(2)).plan());
    if (behind.end == "end") CHECK(run_of(batches.plan()).elements == behind.elements);
    CHECK(run_of(by_text((in | batch(2)).plan(), text, o)).elements == run_of(batches.plan()).elements);
    CHECK(run_of((records | batch(2) | parse(o)).plan()).elements == run_of(batches.plan()).elements);
    CHECK(run_of((batches | unbatch()).plan()).elements == alone.elements);
  }
}

/// Examples of a text of 0 to 20,000 bytes, mostly short ones; every 500th lacks its label.
std::string example_of_any_size(std::int64_t i) {
  example_writer w;
  const std::size_t size = static_cast<std::size_t>(i * i % (i % 50 == 7 ? 20'000 : 90));
  w.bytes("text", std::string(size, static_cast<char>('a' + i % 26)));
  if (i % 500 != 499) w.int64("label", i);
  return std::string(w.finish());
}

}  // namespace

TEST_CASE("packed rows of any size become the structures of their records") {
  const std::string schema = "text: bytes, label: int64";
  const auto texts = range(3'000) | map(example_of_any_size);
  const auto records = texts | map([](const std::string& s) { return record(slice::copy_of(s)); });
  const auto packed = [&schema](const node_ptr& in, example_packing how) {
    return make_stage(parse_example_op, arguments::of(parse_example_arguments{schema, how, {}}), in);
  };
  const printed_run parsed = run_of(by_text(records.plan(), schema), error_policy::skip);
  REQUIRE(parsed.elements.size() == 2'994);
  for (const node_ptr& in : {texts.plan(), records.plan()}) {
    const node_ptr packs = packed(in, example_packing::pack);
    CHECK(run_of(packed(packs, example_packing::unpack), error_policy::skip).elements == parsed.elements);
  }
}

TEST_CASE("a struct and the text of its schema yield the same elements, alone and in batches") {
  same_by_text(example, [](map_options o) { return parse_example<sample>(o); }, kSchema);
  same_by_text(
      picture_example, [](map_options o) { return parse_example<picture>(kPicture, o); },
      std::string(kPicture) + ", box: float[2]?, ids: int64[]?");
  same_by_text(words_example, [](map_options o) { return parse_example<words>(kWords, o); }, kWords);
}

TEST_CASE("the report of a run has the stage of examples that were dropped") {
  for (std::int64_t parallelism : {1, 2}) {
    const auto examples = range(20) | map(example);
    const printed_run got = run_of(by_text(examples.plan(), kSchema, {.parallelism = parallelism}), error_policy::skip);
    CHECK(got.elements.size() == 16);
    REQUIRE(got.report.first_errors.size() == 4);
    CHECK(got.report.first_errors[0].where().stage == "parse_example");
  }
}

TEST_CASE("a struct's stage prints as text that makes the same elements") {
  auto typed = tfrecord("a.tfrecord") | parse_example<sample>({.parallelism = 4}) | batch(8);
  const std::string text =
      std::string("tfrecord(\"a.tfrecord\") | parse_example(\"") + kSchema + "\", parallelism=4) | batch(8)";
  CHECK(plan_text(*typed.plan()) == text);
  CHECK(serialisable(*typed.plan()).ok());
  const node_ptr read = parse_plan(text), from_json = parse_plan_json(plan_json(*typed.plan()));
  CHECK(plan_text(*read) == text);
  CHECK(plan_text(*from_json) == text);
  CHECK(fingerprint(*read) == fingerprint(*typed.plan()));
  CHECK(read->type->element->members.size() == 5);
}

TEST_CASE("a schema's text reads back without its spaces") {
  auto layout = layout_of(" image/encoded :bytes,n:int64 [ 3 ], f : float[]");
  REQUIRE(layout.ok());
  CHECK(schema_text(layout->schema) == "image/encoded: bytes, n: int64[3], f: float[]");
}

TEST_CASE("a schema that does not fit its struct is refused, and the error names the member") {
  auto in = range(3) | map(picture_example);
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

}  // namespace sluice::lib::parse_example_test
