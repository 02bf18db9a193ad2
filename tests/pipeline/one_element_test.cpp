// SPDX-License-Identifier: Apache-2.0
// sluice/pipeline/one_element.hpp, why_not_seekable() of sluice/plan/node.hpp
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/elements.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::one_element_test {
namespace {

using namespace test;
using int64 = std::int64_t;

std::string why_at(const dataset<int64>& ds, int64 index) {
  runtime rt({.workers = 1});
  try {
    sync_wait(rt, ds.at(rt, index));
  } catch (const error& e) { return e.what(); }
  return "there is one";
}

/// at() gives what a run gives.
void at_gives_each(const dataset<int64>& ds, std::size_t most = 40) {
  runtime rt({.workers = 2});
  consumption how;
  how.elements_max = most + 1;
  int64s all = consume(ds, how).elements;
  for (std::size_t i = 0; i != std::min(most, all.size()); ++i) {
    CAPTURE(i);
    CHECK(sync_wait(rt, ds.at(rt, static_cast<int64>(i), {.seed = 1})) == all[i]);
  }
  if (all.size() > most) return;
  CHECK_THAT(why_at(ds, static_cast<int64>(all.size())),
             Catch::Contains("there are " + std::to_string(all.size()) + " elements"));
  CHECK_THAT(why_at(ds, static_cast<int64>(all.size()) + 7),
             Catch::Contains("there are " + std::to_string(all.size()) + " elements"));
}

dataset<int64> read(const std::string& plan) { return dataset<int64>(parse_plan(plan)); }

}  // namespace

TEST_CASE("at gives the element of a place, through every stage that seeks") {
  for (const char* plan :
       {"range(20)",
        "range(100, start=3, step=7)",
        "counter(start=5)",
        "random(seed=3, below=100)",
        "range(20) | map(it * it)",
        "range(20) | map(it * it, parallelism=4) | prefetch(3)",
        "range(20) | enumerate(start=4) | map(it[0] * 100 + it[1])",
        "range(20) | window(4, shift=3) | map(sum(it))",
        "range(20) | shard(3, 1)",
        "range(20) | skip(7) | take(9)",
        "range(20) | take(-1)",
        "range(20) | skip(-1)",
        "range(6) | repeat(3)",
        "range(6) | repeat",
        "range(6) | global_shuffle(seed=4) | repeat(3)",
        "concatenate(range(4), range(7), range(0), range(3))",
        "zip(range(4), range(7), range(5)) | map(it[0] * 100 + it[1] * 10 + it[2])",
        "range(20) | pad_to_cardinality(23) | map(if(it[1], it[0], -1))",
        "range(20) | assert_cardinality(20)",
        "range(20) | global_shuffle(seed=7)",
        "weighted_flat_map([range(20), range(9)], weights=[2.0, 1.0])",
        "range(9) | index_flat_map([it, -it], (it / 2, it % 2), cardinality=18) | global_shuffle(seed=1)"}) {
    CAPTURE(plan);
    at_gives_each(read(plan));
  }
  at_gives_each(range(20) | batch(3) |
                map([](const batched<int64>& b) { return b.values()[0] * 10 + b.values().back(); }));
  at_gives_each(from_elements<int64>({3, 1, 4, 1, 5, 9, 2, 6}));
}

TEST_CASE("at costs the same wherever the element is, and makes it only") {
  static std::atomic<int> made;
  auto count = [](int64 x) { return ++made, x; };
  auto ds = range(3'000'000'000) | map(count, {.parallelism = 8}) | prefetch(100) | repeat(1'000'000'000);
  runtime rt({.workers = 2});
  made = 0;
  CHECK(sync_wait(rt, ds.at(rt, 2'999'999'999'999'999'999)) == 2'999'999'999);
  CHECK(sync_wait(rt, ds.at(rt, 2'345'678'912'345'678'912)) == 2'345'678'912'345'678'912 % 3'000'000'000);
  CHECK(made == 2);
}

TEST_CASE("at gives elements of every kind") {
  runtime rt({.workers = 1});
  auto tries = [&](auto as) {
    using As = decltype(as);
    auto ds = range(30) | map(As::made);
    auto got = sync_wait(rt, ds.at(rt, 17));
    CHECK(As::number(got) == 17);
  };
  tries(as_text());
  tries(as_record());
  tries(as_tensor());
  tries(as_move_only());
}

TEST_CASE("at names the stage that cannot seek, and the valid places") {
  CHECK_THAT(why_at(range(9) | filter(expr("it > 2")) | map(expr<int64>("it")), 3),
             Catch::Contains("at(): filter cannot give its element number i without making those before it"));
  CHECK_THAT(why_at(range(9) | shuffle(3), 3), Catch::Contains("shuffle cannot"));
  CHECK_THAT(why_at(read("range(9) | map(1 / it, on_error=skip)"), 3), Catch::Contains("map drops bad elements"));
  CHECK_THAT(why_at(range(9), -1), Catch::Contains("at(-1): elements are numbered from 0"));
  CHECK_THAT(why_at(range(9) | map(expr<int64>("1 / (it - 3)")), 3), Catch::Contains("map"));
  CHECK(why_at(range(9) | map(expr<int64>("1 / (it - 3)")), 4) == "there is one");
}

TEST_CASE("get_single_element and count_elements give a task their answer") {
  runtime rt({.workers = 2});
  CHECK(sync_wait(rt, get_single_element(rt, range(5) | filter(expr("it == 3")))) == 3);
  auto only = sync_wait(rt, get_single_element(rt, range(1) | map(as_move_only::made)));
  CHECK(as_move_only::number(only) == 0);
  CHECK_THROWS_WITH(sync_wait(rt, get_single_element(rt, range(0))), Catch::Contains("the input is empty"));
  CHECK_THROWS_WITH(sync_wait(rt, get_single_element(rt, range(2))), Catch::Contains("more than one element"));
  CHECK(sync_wait(rt, count_elements(rt, range(1000) | filter(expr("it % 7 == 0")))) == 143);
  CHECK(sync_wait(rt, count_elements(rt, range(0))) == 0);
}

}  // namespace sluice::lib::one_element_test
