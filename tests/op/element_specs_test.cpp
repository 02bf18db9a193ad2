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
std::string spec_of_plan(const std::string& text) {
  CAPTURE(text);
  return spec_of_plan(parse_plan(text));
}

// Three tensors of int64[2].
const std::string kRows = "from_tensor_slices([[1, 2], [3, 4], [5, 6]])";
// Three structures {x: int64[2], y: int64}.
const std::string kStructs = "from_tensor_slices({x: [[1, 2], [3, 4], [5, 6]], y: [7, 8, 9]})";

}  // namespace

TEST_CASE("tensors of a plan have their dtypes and shapes") {
  CHECK(spec_of_plan(kRows) == "int64[2]");
  CHECK(spec_of_plan(kStructs) == "{x: int64[2], y: int64}");
  CHECK(spec_of_plan("from_tensors((uint8([[1, 2, 3]]), \"a\"))") == "(uint8[1,3], string)");
  CHECK(spec_of_plan("from_tensor_slices(float32([], [0,28,28]))") == "any[...]");  // there is none
}

TEST_CASE("batches have their rows' shapes behind one dimension, whose length is known where all are full") {
  CHECK(spec_of_plan(kRows + " | batch(2)") == "int64[?,2]");
  CHECK(spec_of_plan(kRows + " | batch(2, drop_remainder=true)") == "int64[2,2]");
  CHECK(spec_of_plan(kStructs + " | batch(2)") == "{x: int64[?,2], y: int64[?]}");
  CHECK(spec_of_plan(kStructs + " | batch(1) | batch(2, drop_remainder=true)") == "{x: int64[2,?,2], y: int64[2,?]}");
  CHECK(spec_of_plan(kRows + " | batch(2) | unbatch()") == "int64[2]");
  CHECK(spec_of_plan(kStructs + " | batch(2) | unbatch()") == "{x: int64[2], y: int64}");
  CHECK(spec_of_plan(kRows + " | batch(2) | rebatch(3)") == "int64[?,2]");
  CHECK(spec_of_plan(kRows + " | batch(2) | rebatch(3, drop_remainder=true)") == "int64[3,2]");
  CHECK(spec_of_plan(kRows + " | window_batch(2, shift=1, drop_remainder=true)") == "int64[2,2]");
  CHECK(spec_of_plan(kRows + " | window_batch(2)") == "int64[?,2]");
  CHECK(spec_of_plan("range(9) | window(3, drop_remainder=true)") == "int64[3]");
  CHECK(spec_of_plan(kRows + " | batch_by_bytes(40B)") == "int64[?,2]");
}

TEST_CASE("padded batches have the lengths that their shapes say") {
  CHECK(spec_of_plan(kRows + " | padded_batch(2)") == "int64[?,2]");
  CHECK(spec_of_plan(kRows + " | padded_batch(2, shapes={it=[5]})") == "int64[?,5]");
  CHECK(spec_of_plan(kStructs + " | padded_batch(2, shapes={x=[3]}, drop_remainder=true)") ==
        "{x: int64[2,3], y: int64[2]}");
  CHECK(spec_of_plan("range(4) | map([it, it][:it % 3]) | padded_batch(2, shapes={it=[4]})") == "int64[?,4]");
  CHECK(spec_of_plan("range(4) | map([it, it][:it % 3]) | padded_batch(2)") == "int64[?,?]");
}

TEST_CASE("ragged batches know the dtype, the dimensions behind the ragged ones, and how many splits there are") {
  CHECK(spec_of_plan(kRows + " | ragged_batch(2)") == "{values: int64[?], row_splits: int64[1,?]}");
  CHECK(spec_of_plan(kRows + " | ragged_batch(2, drop_remainder=true)") ==
        "{values: int64[4], row_splits: int64[1,3]}");
  const std::string deep = "from_tensor_slices([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])",
                    long_rows = "from_tensors([[1, 2], [3, 4], [5, 6]])";
  CHECK(spec_of_plan("concatenate(" + deep + ", " + long_rows + ") | ragged_batch(3, drop_remainder=true)") ==
        "{values: int64[?,2], row_splits: int64[1,4]}");
  CHECK(spec_of_plan("concatenate(" + kRows + ", " + deep + ") | take(3) | ragged_batch(2)") ==
        "{values: int64[...], row_splits: int64[1,?]}");
  CHECK(spec_of_plan(kRows + " | ragged_batch(2) | ragged_batch(2, drop_remainder=true)") ==
        "{values: int64[?], row_splits: int64[2,?]}");
  CHECK(spec_of_plan("range(4) | map(to_ragged([[it], [it, it]])) | ragged_batch(2)") ==
        "{values: any[...], row_splits: int64[?,?]}");
  CHECK(spec_of_plan("range(4) | map([it, it][:it % 3]) | ragged_batch(2, drop_remainder=true)") == "int64[2,?]");
  CHECK(spec_of_plan("range(4) | ragged_batch(3)") == "int64[?]");
}

TEST_CASE("sparse batches know the dtype of their values, and how many dimensions there are") {
  CHECK(spec_of_plan("range(4) | map([it, it][:it % 3]) | sparse_batch(2, [4])") ==
        "{indices: int64[?,2], values: int64[?], dense_shape: int64[2]}");
  CHECK(spec_of_plan("range(4) | map([\"a\"]) | sparse_batch(2, [-1])") ==
        "{indices: int64[?,2], values: string[?], dense_shape: int64[2]}");
  CHECK(spec_of_plan("from_tensor_slices([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]) | sparse_batch(2, [2, -1])") ==
        "{indices: int64[?,3], values: int64[?], dense_shape: int64[3]}");
  CHECK(spec_of_plan("range(4) | map([it, it][:it % 3]) | sparse_batch(2, [4]) | sparse_batch(2, [-1, 4])") ==
        "{indices: int64[?,3], values: int64[?], dense_shape: int64[3]}");
}

TEST_CASE("packed rows have the length that they are filled to") {
  const std::string sequences = "range(6) | map([it, it][:it % 3]) | pack_sequences(4";
  CHECK(spec_of_plan(sequences + ")") == "{tokens: int64[4], segments: int32[4], positions: int32[4]}");
  CHECK(spec_of_plan(sequences + ") | batch(2)") ==
        "{tokens: int64[?,4], segments: int32[?,4], positions: int32[?,4]}");
  CHECK(spec_of_plan(sequences + ", pad=false)") == "{tokens: int64[?], segments: int32[?], positions: int32[?]}");
}

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

TEST_CASE("verbs that give their input's elements know what it knows") {
  for (const char* verb : {"take(2)", "skip(1)", "shuffle(2)", "repeat(2)", "prefetch(2)", "shard(2, 0)", "unique()",
                           "filter(true)", "take_while(true)", "drop_while(false)", "inspect(it)",
                           "assert_cardinality(3)", "global_shuffle()", "rate_limit(elements_per_second=1000000)",
                           "ignore_errors()", "with_options(on_error=skip)", "take(1) | get_single_element()"})
    CHECK(spec_of_plan(kRows + " | " + verb) == "int64[2]");
  CHECK(spec_of_plan(kRows + " | enumerate()") == "(int64, int64[2])");
  CHECK(spec_of_plan("zip(" + kRows + ", " + kStructs + ", range(3))") == "(int64[2], {x: int64[2], y: int64}, int64)");
  CHECK(spec_of_plan(kRows + " | pad_to_cardinality(5)") == "(int64[2], bool)");
  CHECK(spec_of_plan(kStructs + " | pad_to_cardinality(5)") == "{x: int64[2], y: int64, valid: bool}");
  CHECK(spec_of_plan(kRows + " | group_by_window(1, batch(2, drop_remainder=true), 2)") == "any[...]");
  auto not_run = [](const std::string& inner) {
    return element_spec_of(*parse_plan("list_files(\"no-such-*\") | " + inner)).text();
  };
  CHECK(not_run("interleave(lines | batch(2, drop_remainder=true))") == "string[2]");
  CHECK(not_run("flat_map(lines | enumerate() | window(3, drop_remainder=true))") == "(int64, string)[3]");
}

TEST_CASE("what several datasets give has the shape that all have") {
  const std::string other = "from_tensor_slices([[1, 2, 3]])", deep = "from_tensors([[1]])",
                    single = "from_tensor_slices([[1.5, 2.5]])";
  CHECK(spec_of_plan("concatenate(" + kRows + ", " + kRows + ")") == "int64[2]");
  CHECK(spec_of_plan("concatenate(" + kRows + ", " + other + ")") == "int64[?]");
  CHECK(spec_of_plan("round_robin([" + kRows + ", " + deep + "])") == "int64[...]");
  CHECK(spec_of_plan("sample_from_datasets([" + kRows + ", " + single + "])") == "any[...]");
  CHECK(spec_of_plan("choose_from_datasets([" + kRows + ", " + other + "], range(2))") == "int64[?]");
  CHECK(spec_of_plan("weighted_flat_map([" + kRows + ", " + other + "])") == "int64[?]");
  CHECK(spec_of_plan("merge(" + kRows + ", " + other + ")") == "int64[?]");
}

TEST_CASE("an expression keeps the shapes of what it takes over from its element") {
  CHECK(spec_of_plan(kStructs + " | map(x)") == "int64[2]");
  CHECK(spec_of_plan(kStructs + " | map(it.x)") == "int64[2]");
  CHECK(spec_of_plan(kStructs + " | map({image: x, label: y + 1, both: (x, it)})") ==
        "{image: int64[2], label: int64, both: (int64[2], {x: int64[2], y: int64})}");
  CHECK(spec_of_plan(kRows + " | enumerate() | map(it[1])") == "int64[2]");
  CHECK(spec_of_plan(kStructs + " | map(let(x = y, x))") == "int64");
  CHECK(spec_of_plan(kStructs + " | map({y: x, x: y}) | map(y)") == "int64[2]");
}

}  // namespace sluice::lib::element_specs_test
