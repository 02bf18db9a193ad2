// SPDX-License-Identifier: Apache-2.0
// What tf.data answered when it was asked (tests/golden/semantics.json) is what our operators answer.
#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sluice/sluice.hpp"

namespace sluice::lib::semantics_test {
namespace {

using nlohmann::json;
using int64s = std::vector<std::int64_t>;

const json& golden() {
  static const json all = [] {
    std::ifstream in("tests/golden/semantics.json");
    return json::parse(in);
  }();
  return all;
}

task<int64s> drain(stream<std::int64_t> s) {
  int64s all;
  while (auto x = co_await s.next()) all.push_back(*x);
  co_return all;
}

task<std::vector<int64s>> drain_batches(stream<batched<std::int64_t>> s) {
  std::vector<int64s> all;
  while (auto b = co_await s.next()) {
    auto rows = b->values();
    all.emplace_back(rows.begin(), rows.end());
  }
  co_return all;
}

task<std::vector<int64s>> drain_lists(stream<int64s> s) {
  std::vector<int64s> all;
  while (auto list = co_await s.next()) all.push_back(*list);
  co_return all;
}

std::vector<int64s> answer(runtime& rt, const dataset<int64s>& ds) {
  return sync_wait(rt, drain_lists(ds.iterate(rt)));
}
int64s answer(runtime& rt, const dataset<std::int64_t>& ds) { return sync_wait(rt, drain(ds.iterate(rt))); }
std::vector<int64s> answer(runtime& rt, const dataset<batched<std::int64_t>>& ds) {
  return sync_wait(rt, drain_batches(ds.iterate(rt)));
}

/// The stages that keep the element type, whatever it is.
template <class T> dataset<T> with_preserving_stage(const dataset<T>& in, const json& stage) {
  std::string name = stage[0];
  std::int64_t n = stage[1];
  if (name == "take") return in | take(n);
  if (name == "skip") return in | skip(n);
  if (name == "repeat") return in | repeat(n);
  if (name == "shuffle") return in | shuffle(n);
  if (name == "prefetch") return in | prefetch(std::max<std::int64_t>(n, 1));  // tf.data's 0 is none at all
  throw std::invalid_argument(name);
}

dataset<std::int64_t> with_stage(const dataset<std::int64_t>& in, const json& stage) {
  std::string name = stage[0];
  auto number = [&](std::size_t i) { return stage.at(i).get<std::int64_t>(); };
  if (name == "filter_mod") return in | filter([m = number(1), r = number(2)](std::int64_t x) { return x % m == r; });
  if (name == "map_affine") return in | map([a = number(1), b = number(2)](std::int64_t x) { return x * a + b; });
  auto open_range = [m = number(1)](std::int64_t x) { return range(x % m); };
  if (name == "flat_map_range") return in | flat_map(open_range);
  if (name == "interleave_range")
    return in | interleave(open_range, {.cycle_length = number(2), .block_length = number(3)});
  return with_preserving_stage(in, stage);
}

cardinality told_cardinality(const json& asked) {
  const json& told = asked["cardinality"];
  if (told == "infinite") return cardinality::forever();
  return told == "unknown" ? cardinality() : cardinality::of(told.get<std::int64_t>());
}

/// [start, stop, step, times]
dataset<std::int64_t> repeated_range(const json& r) {
  return range(r[1].get<std::int64_t>(), {.start = r[0], .step = r[2]}) | repeat(r[3].get<std::int64_t>());
}

template <class... T> int64s row_of(const std::tuple<T...>& t) {
  return std::apply([](auto... x) { return int64s{static_cast<std::int64_t>(x)...}; }, t);
}

dataset<int64s> zipped(const std::vector<dataset<std::int64_t>>& in) {
  auto pair = [](const auto& p) { return int64s{p.first, p.second}; };
  auto row = [](const auto& t) { return row_of(t); };
  if (in.size() == 2) return zip(in[0], in[1]) | map(pair);
  if (in.size() == 3) return zip(in[0], in[1], in[2]) | map(row);
  return zip(in[0], in[1], in[2], in[3]) | map(row);
}

dataset<std::int64_t> concatenated(const std::vector<dataset<std::int64_t>>& in) {
  if (in.size() == 2) return concatenate(in[0], in[1]);
  if (in.size() == 3) return concatenate(in[0], in[1], in[2]);
  return concatenate(in[0], in[1], in[2], in[3]);
}

/// Python's, which TensorFlow's is.
std::int64_t modulo(std::int64_t x, std::int64_t m) { return (x % m + m) % m; }

dataset<std::int64_t> source(const json& stage) {
  return range(stage[2].get<std::int64_t>(), {.start = stage[1], .step = stage[3]});
}

}  // namespace

TEST_CASE("interleave gives tf.data's order for every cycle and block length, in sequence and in parallel") {
  runtime rt({.workers = 2});
  for (const json& asked : golden()["interleave"]) {
    CAPTURE(asked.dump());
    auto inputs = asked["inputs"].get<std::vector<int64s>>();
    auto open_input = [inputs](std::int64_t k) { return from_range(inputs[static_cast<std::size_t>(k)]); };
    std::int64_t cycle = asked["cycle_length"], block = asked["block_length"];
    auto outer = range(static_cast<std::int64_t>(inputs.size()));
    auto expected = asked["expected"].get<int64s>();
    for (std::int64_t parallelism : {1, 3}) {
      auto ds =
          outer | interleave(open_input, {.cycle_length = cycle, .block_length = block, .parallelism = parallelism});
      CHECK(answer(rt, ds) == expected);
    }
  }
}

TEST_CASE("chains of stages equal tf.data's") {
  runtime rt({.workers = 2});
  for (const json& asked : golden()["chains"]) {
    CAPTURE(asked.dump());
    const json& stages = asked["stages"];
    auto batching = std::find_if(stages.begin(), stages.end(), [](const json& s) { return s[0] == "batch"; });
    auto chain = source(stages[0]);
    for (auto s = stages.begin() + 1; s != batching; ++s) chain = with_stage(chain, *s);
    if (batching == stages.end()) {
      CHECK(answer(rt, chain) == asked["expected"].get<int64s>());
      continue;
    }
    auto batches = chain | batch((*batching)[1].get<std::int64_t>(), {.drop_remainder = (*batching)[2].get<bool>()});
    for (auto s = batching + 1; s != stages.end(); ++s) batches = with_preserving_stage(batches, *s);
    CHECK(answer(rt, batches) == asked["expected"].get<std::vector<int64s>>());
  }
}

TEST_CASE("windows have the elements that tf.data's have, and are as many") {
  runtime rt({.workers = 2});
  REQUIRE(golden()["window"].size() > 200);
  for (const json& asked : golden()["window"]) {
    CAPTURE(asked.dump());
    window_options o{.stride = asked["stride"].get<std::int64_t>(),
                     .drop_remainder = asked["drop_remainder"].get<bool>()};
    if (!asked["shift"].is_null()) o.shift = asked["shift"].get<std::int64_t>();
    auto windows = range(asked["length"].get<std::int64_t>()) | window(asked["size"].get<std::int64_t>(), o);
    CHECK(answer(rt, windows) == asked["expected"].get<std::vector<int64s>>());
    CHECK(cardinality_of(*windows.plan()) == cardinality::of(asked["cardinality"].get<std::int64_t>()));
  }
}

TEST_CASE("zip, concatenate and enumerate equal tf.data's, in elements and length") {
  runtime rt({.workers = 2});
  REQUIRE(golden()["combine"].size() > 80);
  for (const json& asked : golden()["combine"]) {
    CAPTURE(asked.dump());
    std::vector<dataset<std::int64_t>> in;
    for (const json& r : asked["inputs"]) in.push_back(repeated_range(r));
    auto answers_to = [&](const auto& ds) {
      using row = typename std::remove_cvref_t<decltype(ds)>::value_type;
      CHECK(answer(rt, ds | take(60)) == asked["expected"].get<std::vector<row>>());
      CHECK(cardinality_of(*ds.plan()) == told_cardinality(asked));
    };
    if (asked["op"] == "zip") answers_to(zipped(in));
    else if (asked["op"] == "concatenate") answers_to(concatenated(in));
    else {
      auto numbered = in[0] | enumerate({.start = asked["start"].get<std::int64_t>()});
      answers_to(numbered | map([](const auto& p) { return int64s{static_cast<std::int64_t>(p.first), p.second}; }));
    }
  }
}

TEST_CASE("groups equal tf.data's, in its order") {
  struct totals {
    std::int64_t sum = 0, count = 0;
  };
  runtime rt({.workers = 2});
  REQUIRE(golden()["group_by_reducer"].size() == 144);
  for (const json& asked : golden()["group_by_reducer"]) {
    CAPTURE(asked.dump());
    std::int64_t step = asked["step"], stop = asked["length"].get<std::int64_t>() * step;
    auto by = [m = asked["modulus"].get<std::int64_t>()](std::int64_t x) { return modulo(x, m) - 2; };
    auto add = [](totals& t, std::int64_t x) {
      t.sum = t.sum * 3 + x;
      ++t.count;
    };
    auto finish = [as = asked["finalize"].get<std::string>()](const totals& t) {
      return as == "sum" ? t.sum : as == "count" ? t.count : t.sum * 100 + t.count;
    };
    auto from_key = [](std::int64_t key) { return totals{key * 1000, 0}; };
    auto in = range(stop, {.step = step});
    auto grouped = asked["init"] == "key" ? in | group_by_reducer(by, from_key, add, finish)
                                          : in | group_by_reducer(by, totals{}, add, finish);
    CHECK(answer(rt, grouped) == asked["expected"].get<int64s>());
    CHECK(cardinality_of(*grouped.plan()) == told_cardinality(asked));
  }
}

TEST_CASE("the properties of tf.data's shuffle hold for ours") {
  const json& facts = golden()["shuffle"];
  for (auto fact : {"permutation", "earliest_place_is_value_minus_buffer_plus_one", "epochs_do_not_mix",
                    "epochs_differ_when_reshuffled", "epochs_equal_when_not_reshuffled"}) {
    CAPTURE(fact);
    REQUIRE(facts[fact] == true);  // what follows checks the same of ours
  }
  std::int64_t n = facts["n"], buffer_size = facts["buffer_size"];
  runtime rt({.workers = 2});
  auto sorted = [](int64s v) {
    std::sort(v.begin(), v.end());
    return v;
  };
  auto all = answer(rt, range(n));

  auto epochs = answer(rt, range(n) | shuffle(buffer_size, {.seed = 5}) | repeat(3));
  REQUIRE(epochs.size() == static_cast<std::size_t>(3 * n));
  auto epoch = [&](std::int64_t e) { return int64s(epochs.begin() + e * n, epochs.begin() + (e + 1) * n); };
  for (int e : {0, 1, 2}) CHECK(sorted(epoch(e)) == all);
  CHECK(epoch(0) != all);
  CHECK(epoch(0) != epoch(1));
  for (std::int64_t place = 0; place < n; ++place)
    CHECK(epoch(0)[static_cast<std::size_t>(place)] - place < buffer_size);

  auto same = answer(rt, range(n) | shuffle(buffer_size, {.seed = 5, .reshuffle_each_iteration = false}) | repeat(2));
  CHECK(std::equal(same.begin(), same.begin() + n, same.begin() + n));
}

}  // namespace sluice::lib::semantics_test
