// SPDX-License-Identifier: Apache-2.0
// src/plan/text/spellings.hpp, sluice/pipeline/fused.hpp, sluice/plan/apply.hpp
#include "plan/text/spellings.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"

namespace sluice::lib::spellings_test {
namespace {

using int64 = std::int64_t;

SLUICE_FUNCTION(doubled_here, [](int64 x) { return 2 * x; });
SLUICE_FUNCTION(look_here, [](const int64&) {});
SLUICE_FUNCTION(open_here, [](int64 x) { return range(x); });

std::string read(const std::string& text) { return plan_text(*parse_plan(text)); }
std::string read_json(const std::string& json) { return plan_text(*parse_plan_json(json)); }
std::string refusal_of(const std::string& text) {
  try {
    parse_plan(text);
  } catch (const error& e) { return std::string(e.why().message()); }
  return "no error";
}

}  // namespace

TEST_CASE("a spelling is read as the calls that it stands for, and the plan has no trace of it") {
  CHECK(read("range(9) | map_and_batch(doubled_here, 4)") == "range(9) | map(doubled_here) | batch(4)");
  CHECK(read("range(9) | map_and_batch(it * 2, 4, drop_remainder=true, parallelism=3, order=sloppy)") ==
        "range(9) | map(it * 2, parallelism=3, order=sloppy) | batch(4, drop_remainder=true)");
  CHECK(read("range(9) | map_and_batch(size=4, function=doubled_here)") == "range(9) | map(doubled_here) | batch(4)");
  CHECK(read("range(9) | shuffle_and_repeat(5)") == "range(9) | shuffle(5) | repeat");
  CHECK(read("range(9) | shuffle_and_repeat(5, 3, 7)") == "range(9) | shuffle(5, seed=7) | repeat(3)");
  CHECK(read("range(9) | parallel_interleave(open_here, 4)") ==
        "range(9) | interleave(open_here, cycle_length=4, parallelism=4)");
  CHECK(read("range(9) | parallel_interleave(open_here, 4, 2, sloppy=true)") ==
        "range(9) | interleave(open_here, cycle_length=4, block_length=2, parallelism=4, order=sloppy)");
  CHECK(read("range(9) | parallel_interleave(open_here, 4, sloppy=false) | take(3)") ==
        "range(9) | interleave(open_here, cycle_length=4, parallelism=4) | take(3)");
  CHECK(read("range(9) | tap(look_here)") == "range(9) | inspect(look_here)");
  CHECK(read("list_files(\"a\") | interleave(lines | map_and_batch(length(it), 2))") ==
        read("list_files(\"a\") | interleave(lines | map(length(it)) | batch(2))"));
  CHECK(read("range(9) | map_and_batch(doubled_here, 4, on_error=skip)") ==
        "range(9) | map(doubled_here, on_error=skip) | batch(4, on_error=skip)");
  for (const op_info* op : known_operators()) {
    CAPTURE(op->name);
    CHECK(!detail::is_spelling(op->name));
  }
}

TEST_CASE("names with another word in plan text are reported with it") {
  for (const char* name :
       {"write", "at", "cardinality", "element_spec", "options", "apply", "broadcast", "tee", "count", "pack"}) {
    const std::string words = "there is no stage " + std::string(name) + "; ";
    CAPTURE(name);
    CHECK(refusal_of("range(9) | " + std::string(name) + "(3)").find(words) != std::string::npos);
    CHECK(refusal_of("range(9) | interleave(range(3) | " + std::string(name) + ")").find(words) != std::string::npos);
    CHECK(!find_op(name));
  }
  CHECK(refusal_of("range(9) | count").find("count_elements") != std::string::npos);
  CHECK(refusal_of("range(9) | pack(3)").find("pack_sequences") != std::string::npos);
  CHECK(refusal_of("range(3) | concatenate(range(2))").find("write concatenate(A, B)") != std::string::npos);
  CHECK(refusal_of("range(3) | choose_from_datasets([range(2)], range(3))")
            .find("write choose_from_datasets([A, B], …)") != std::string::npos);
}

TEST_CASE("a spelling may be used in JSON, as one call of several") {
  CHECK(read_json(R"({"op":"map_and_batch","arguments":{"function":{"name":"doubled_here","version":1},"size":4},)"
                  R"("inputs":[{"op":"range","arguments":{"stop":9}}]})") == "range(9) | map(doubled_here) | batch(4)");
  CHECK(read_json(R"({"op":"take","arguments":{"elements":2},"inputs":[{"op":"shuffle_and_repeat","arguments":)"
                  R"({"buffer_size":5,"times":2},"inputs":[{"op":"range","arguments":{"stop":9}}]}]})") ==
        "range(9) | shuffle(5) | repeat(2) | take(2)");
  CHECK_THROWS_WITH(read_json(R"({"op":"tap","arguments":{"f":1},"inputs":[{"op":"range","arguments":{"stop":9}}]})"),
                    Catch::Contains("tap: has no f (it has function)"));
}

TEST_CASE("mistakes in a spelling are reported at their place") {
  CHECK(refusal_of("range(9) | map_and_batch(doubled_here, 4, paralelism=3)") ==
        "column 43: map_and_batch: has no paralelism (it has function, size, drop_remainder, parallelism, order, "
        "seed); did you "
        "mean parallelism?");
  CHECK(refusal_of("range(9) | map_and_batch(doubled_here, 0)").find("batch: size must be at least 1, and is 0") !=
        std::string::npos);
  CHECK(refusal_of("range(9) | map_and_batch(doubled_here)").find("batch: needs size") != std::string::npos);
  CHECK(refusal_of("range(9) | map_and_batch(doubled_here, 4, 5)") ==
        "column 43: map_and_batch: takes no more values, and found 5");
  CHECK(refusal_of("range(9) | parallel_interleave(open_here, 4, sloppy=7)") ==
        "column 53: parallel_interleave: sloppy expects true or false, and is 7");
  CHECK(refusal_of("range(9) | shuffle_and_repeat(5, times=2, times=3)").find("times is given twice") !=
        std::string::npos);
  CHECK(refusal_of("tap(look_here)").find("a plan starts with a source") != std::string::npos);
}

TEST_CASE("in C++ the same names build the same plans, and apply returns its function's result") {
  auto same = [](const node_ptr& plan, const std::string& text) { CHECK(plan_text(*plan) == text); };
  same((range(9) | map_and_batch(doubled_here, 4, {.drop_remainder = true, .parallelism = 3})).plan(),
       "range(9) | map(doubled_here, parallelism=3) | batch(4, drop_remainder=true)");
  same((range(9) | shuffle_and_repeat(5, 3, {.seed = 7})).plan(), "range(9) | shuffle(5, seed=7) | repeat(3)");
  same((range(9) | parallel_interleave(open_here, 4, {.sloppy = true})).plan(),
       "range(9) | interleave(open_here, cycle_length=4, parallelism=4, order=sloppy)");
  auto shuffled = [](const auto& in) { return in | shuffle(5, {.seed = 1}) | batch(2); };
  same((range(9) | apply(shuffled) | prefetch(2)).plan(), "range(9) | shuffle(5, seed=1) | batch(2) | prefetch(2)");
  auto tail = apply(shuffled) | take(1);
  same((range(4) | tail).plan(), "range(4) | shuffle(5, seed=1) | batch(2) | take(1)");
}

}  // namespace sluice::lib::spellings_test
