// SPDX-License-Identifier: Apache-2.0
// What random draws depend on: the run's seed, which stage it is, which outer element, which epoch, and nothing else.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "pipeline/outcome.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::draws_test {
namespace {

using int64 = std::int64_t;
using test::int64s;

int64s elements_of(const dataset<int64>& ds) {
  test::consumed got = test::consume(ds, {});
  REQUIRE(got.complaint() == "");
  return got.elements;
}

/// Parts of equal length.
std::vector<int64s> parts(const int64s& all, std::ptrdiff_t length) {
  std::vector<int64s> out;
  for (auto at = all.begin(); at != all.end(); at += length) out.emplace_back(at, at + length);
  return out;
}
std::size_t different(const std::vector<int64s>& orders) {
  return std::set<int64s>(orders.begin(), orders.end()).size();
}

// A combine for these tests: all of the first input, then all of the second.
erased_stream both_loop(outlet out, erased_stream first, erased_stream second) {
  while (auto b = co_await first.next_block({0, out.ask()})) co_yield b;
  while (auto b = co_await second.next_block({0, out.ask()})) co_yield b;
}
erased_stream open_both(const node& n, open_context& context) {
  outlet out(*n.type);
  erased_stream first = context.in_input(n, 0).open(n.inputs[0]);
  erased_stream second = context.in_input(n, 1).open(n.inputs[1]);
  return both_loop(out, std::move(first), std::move(second));
}
const op_info kBoth{.name = "both",
                    .doc = "one input after the other",
                    .shape = op_info::combine,
                    .type = same_type,
                    .lowering = {.open = open_both}};

class with_both {
 public:
  with_both() : table_(operators().begin(), operators().end()), scope_((table_.push_back(&kBoth), table_)) {}

 private:
  std::vector<const op_info*> table_;
  scoped_operators scope_;
};

dataset<int64> both(const dataset<int64>& a, const dataset<int64>& b) {
  return dataset<int64>(make_combine(kBoth, arguments(), {a.plan(), b.plan()}));
}

auto shuffled(std::int64_t seed) {
  return [seed](int64) { return range(6) | shuffle(6, {.seed = seed}); };
}

}  // namespace

TEST_CASE("the plans opened for different outer elements are shuffled differently") {
  for (std::int64_t seed : {-1, 7}) {
    CAPTURE(seed);
    CHECK(different(parts(elements_of(range(4) | flat_map(shuffled(seed))), 6)) == 4);
    CHECK(different(parts(elements_of(range(4) | interleave(shuffled(seed), {.cycle_length = 2, .block_length = 6})),
                          6)) == 4);
    CHECK(different(parts(elements_of(range(4) | interleave(shuffled(seed), {.block_length = 6, .parallelism = 2})),
                          6)) == 4);
    auto nested = [seed](int64) { return range(3) | flat_map(shuffled(seed)); };
    CHECK(different(parts(elements_of(range(3) | flat_map(nested)), 6)) == 9);
  }
}

TEST_CASE("an order that is fixed for all epochs is the same in each, and differs between outer elements") {
  auto fixed = [](int64) { return range(6) | shuffle(6, {.reshuffle_each_iteration = false}) | repeat(2); };
  std::vector<int64s> orders = parts(elements_of(range(4) | flat_map(fixed)), 6);
  CHECK(different(orders) == 4);
  for (std::size_t i = 0; i != orders.size(); i += 2) CHECK(orders[i] == orders[i + 1]);
}

TEST_CASE("two shuffles that look alike draw differently, as inputs of one stage and above each other") {
  with_both table;
  auto one = range(30) | shuffle(30);
  CHECK(different(parts(elements_of(both(one, one)), 30)) == 2);
  auto once = elements_of(one), twice = elements_of(one | shuffle(30));
  CHECK(once != twice);
  int64s swapped(30);  // had both drawn alike, the second order would be the first applied twice
  for (std::size_t i = 0; i != 30; ++i) swapped[i] = once[static_cast<std::size_t>(once[i])];
  CHECK(swapped != twice);
}

TEST_CASE("shuffles with equal seeds draw alike, at any place") {
  with_both table;
  auto one = range(30) | shuffle(30, {.seed = 7});
  CHECK(different(parts(elements_of(both(one, one)), 30)) == 1);
  CHECK(different(parts(elements_of(both(one | repeat(2), one | prefetch(1) | repeat(2))), 60)) == 1);
  CHECK(elements_of(one) == elements_of(one | take(-1) | prefetch(2)));
}

TEST_CASE("stages added anywhere around a shuffle do not change its order") {
  auto plain = elements_of(range(30) | shuffle(30));
  CHECK(elements_of(range(30) | take(-1) | shuffle(30)) == plain);
  CHECK(elements_of(range(30) | prefetch(4) | map([](int64 x) { return x; }) | shuffle(30)) == plain);
  CHECK(elements_of(range(30) | shuffle(30) | prefetch(4)) == plain);
  CHECK(elements_of(range(30) | shuffle(30) | repeat(1)) == plain);
  CHECK(elements_of(range(30) | skip(0) | shuffle(30) | take(30) | take(30)) == plain);
}

TEST_CASE("every pass of nested repeats is an epoch of its own") {
  for (std::int64_t seed : {-1, 9}) {
    CAPTURE(seed);
    auto one = range(20) | shuffle(20, {.seed = seed});
    CHECK(different(parts(elements_of(one | repeat(3) | repeat(3)), 20)) == 9);
    auto inner = [seed](int64) { return range(20) | shuffle(20, {.seed = seed}) | repeat(2); };
    CHECK(different(parts(elements_of(range(2) | flat_map(inner) | repeat(2)), 20)) == 8);
  }
  with_both table;
  auto one = range(20) | shuffle(20, {.seed = 9});
  CHECK(different(parts(elements_of(both(one | repeat(2), one | repeat(2)) | repeat(2)), 20)) == 4);
}

TEST_CASE("an endless repeat ends with an epoch that happens to be empty, another continues") {
  auto odd_first = range(4) | shuffle(4, {.seed = 5}) | take(1) | filter([](int64 x) { return x % 2 == 1; });
  int64s of_100 = elements_of(odd_first | repeat(100)), for_ever = elements_of(odd_first | repeat());
  CHECK(of_100.size() > 25);
  CHECK(for_ever.size() < of_100.size());
  CHECK(for_ever == int64s(of_100.begin(), of_100.begin() + static_cast<std::ptrdiff_t>(for_ever.size())));
}

TEST_CASE("a plan iterated once per epoch by hand equals a repeat on top of it") {
  for (std::int64_t seed : {-1, 9}) {
    auto plan = range(20) | shuffle(20, {.seed = seed}) | repeat(2) | batch(5) | unbatch();
    std::vector<int64s> repeated = parts(elements_of(plan | repeat(3)), 40);
    simulation world(1);
    runtime rt(world, {.workers = 2});
    for (std::size_t epoch = 0; epoch != 3; ++epoch) {
      CAPTURE(seed, epoch);
      iterate_options o;
      o.seed = 1;
      o.epoch = epoch;
      testing::outcome got = testing::run(rt, plan, o);
      CHECK(got.report.epoch == epoch);
      int64s elements;
      for (const std::string& x : got.elements) elements.push_back(std::stoll(x));
      CHECK(elements == repeated[epoch]);
    }
  }
}

TEST_CASE("a checkpoint keeps its epoch, and refuses another one") {
  simulation world(1);
  runtime rt(world, {.workers = 2});
  auto plan = range(30) | shuffle(30, {.seed = 9});
  iterate_options o;
  o.epoch = 300;
  testing::outcome whole = testing::run(rt, plan, o);
  CHECK(whole.elements != testing::run(rt, plan, {}).elements);
  std::vector<std::string> rest(whole.elements.begin() + 11, whole.elements.end());
  o.from = whole.places[11];
  CHECK(testing::run(rt, plan, o).elements == rest);
  o.epoch.reset();
  testing::outcome gone_on = testing::run(rt, plan, o);
  CHECK(gone_on.elements == rest);
  CHECK(gone_on.report.epoch == 300);
  for (std::uint64_t other : {std::uint64_t{0}, std::uint64_t{301}}) {
    o.epoch = other;
    testing::outcome refused = testing::run(rt, plan, o);
    CHECK(refused.elements.empty());
    CHECK(refused.why.code() == status_code::failed_precondition);
    CHECK_THAT(refused.message(), Catch::Contains("made in epoch 300"));
  }
}

}  // namespace sluice::lib::draws_test
