// SPDX-License-Identifier: Apache-2.0
// src/engine/lowering/element_specs.hpp: what verbs know of their elements before there are any.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/lowering/element_specs.hpp"
#include "sluice/format/example.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::element_specs_test {
namespace {

/// How many elements are not what the plan's spec says.
task<int> unlike(any_stream s, spec said) {
  int wrong = 0;
  while (auto b = co_await s.next_block({.elements = 7}))
    for (std::uint32_t i = 0; i != b.size(); ++i) wrong += !check(said, b.type(), b.at(i)).ok();
  auto done = cleanup(std::move(s));
  co_await done;
  co_return wrong;
}

/// The spec that a plan says; all of its elements have it.
std::string spec_of_plan(const node_ptr& plan) {
  const spec said = element_spec_of(*plan);
  CHECK(holds(spec_of(*plan->type), said));
  runtime rt({.workers = 1});
  CHECK(sync_wait(rt, unlike(open_run(rt, plan, {}), said)) == 0);
  return said.text();
}

// Three tensors of int64[2].
const std::string kRows = "from_tensor_slices([[1, 2], [3, 4], [5, 6]])";
// Three structures {x: int64[2], y: int64}.
const std::string kStructs = "from_tensor_slices({x: [[1, 2], [3, 4], [5, 6]], y: [7, 8, 9]})";

}  // namespace

TEST_CASE("tensors that are parsed have the shapes of the schema") {
  auto example = [](std::int64_t x) {
    example_writer w;
    const std::vector<std::int64_t> numbers(static_cast<std::size_t>(2 * (x % 3)), x), index(1, x);
    const std::vector<float> image(6, 0.5f), weights(1, 1.5f);
    w.int64("label", x).floats("image", image.data(), image.size()).int64s("pairs", numbers.data(), numbers.size());
    w.floats("w", weights.data(), 1).int64s("i", index.data(), 1).int64s("rows", numbers.data(), numbers.size());
    if (x % 2) w.bytes_list("words", {"a", "b"});
    return std::string(w.finish());
  };
  const auto examples = range(5) | map(example);
  const std::string schema =
      "label: int64, image: float[2,3], pairs: int64[?,2], words: bytes[1,2] = ['', ''], score: float?, "
      "w = sparse('w', 'i'): float[9], rows = ragged('rows', uniform(2)): int64, tags = 'no': bytes[] = []";
  const std::string inside =
      "{label: int64, image: float32[2,3], pairs: int64[?,2], words: string[1,2], score: float32?, "
      "w: {indices: int64[?,1], values: float32[?], dense_shape: int64[1]}, "
      "rows: {values: int64[?], row_splits: int64[1,?]}, tags: string[?]}";
  auto parsed = [](const node_ptr& in, const std::string& text) {
    return make_stage(parse_example_op, arguments::of(parse_example_arguments{text, {}}), in);
  };
  CHECK(spec_of_plan(parsed(examples.plan(), schema)) == inside);
  const std::string dense = "label: int64, image: float[2,3]";
  const auto in = dataset<std::string>(examples);
  CHECK(spec_of_plan(parsed((in | batch(2)).plan(), dense)) == "{label: int64[?], image: float32[?,2,3]}");
  CHECK(spec_of_plan(parsed((in | batch(2, {.drop_remainder = true})).plan(), dense)) ==
        "{label: int64[2], image: float32[2,2,3]}");
}

TEST_CASE("verbs that forward their input's elements forward its facts") {
  auto not_run = [](const std::string& inner) {
    return element_spec_of(*parse_plan("list_files(\"no-such-*\") | " + inner)).text();
  };
  CHECK(not_run("interleave(lines | batch(2, drop_remainder=true))") == "string[2]");
  CHECK(not_run("flat_map(lines | enumerate() | window(3, drop_remainder=true))") == "(int64, string)[3]");
}

}  // namespace sluice::lib::element_specs_test
