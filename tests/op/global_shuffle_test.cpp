// SPDX-License-Identifier: Apache-2.0
// sluice/op/global_shuffle.hpp
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/index_permutation.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"
#include "support/elements.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/printed_run.hpp"
#include "verbs/global_shuffle_model.hpp"

namespace sluice::lib::global_shuffle_test {
namespace {

using namespace test;
using namespace global_shuffle_case;
using int64 = std::int64_t;

/// Of elements of one kind, resumed at each, passed over, by blocks.
void shuffles(const dataset<int64>& ds, const int64s& expected) {
  consumed whole = consume(ds, {.save = true});
  CHECK(whole.elements == expected);
  CHECK(consume(ds, {.ask_max = 9, .asks_all = true}).elements == expected);
  for (std::size_t at = 0; at < whole.places.size(); ++at) {
    consumption how;
    how.from = whole.places[at];
    how.ask_max = static_cast<std::uint32_t>(at % 4);
    CHECK(consume(ds, how).elements == without_first(expected, at));
    how.from = {};
    how.skip = at;
    CHECK(consume(ds, how).elements == without_first(expected, at));
  }
}
template <class As> void shuffles(const char* kind, int64 n) {
  CAPTURE(kind, n);
  shuffles(range(n) | map(As::made) | global_shuffle({.seed = 7}) | map(As::number),
           in_order(numbers_up_to(n), mix(7)));
}

}  // namespace

TEST_CASE("global_shuffle gives each element once, of every kind, from any of them on") {
  for (int64 n : {0, 1, 2, 5, 30}) {
    shuffles<as_text>("texts", n);
    shuffles<as_record>("records", n);
    shuffles<as_move_only>("move-only", n);
    shuffles<as_counting>("counting", n);
  }
}

TEST_CASE("a range is shuffled as other elements are") {
  for (int64 n : {0, 1, 2, 5, 30, 3000}) {
    CAPTURE(n);
    int64s downwards = numbers_up_to(n);
    for (int64& x : downwards) x = 100 - 7 * x;
    const auto ds = range(100 - 7 * n, {.start = 100, .step = -7});
    const int64s expected = in_order(downwards, mix(7));
    if (n < 1000) shuffles(ds | global_shuffle({.seed = 7}), expected);
    CHECK(consume(ds | global_shuffle({.seed = 7}), {.ask_max = 4096}).elements == expected);
    CHECK(consume(ds | assert_cardinality(n) | global_shuffle({.seed = 7}), {}).elements == expected);
  }
}

TEST_CASE("global_shuffle gives each element once at every size") {
  for (int64 n = 1; n <= static_cast<int64>(cases(300)); ++n) {
    CAPTURE(n);
    int64s got = consume(range(n) | global_shuffle({.seed = n}), {.ask_max = 64}).elements;
    std::sort(got.begin(), got.end());
    REQUIRE(got == numbers_up_to(n));
  }
  int64s got = consume(range(65'537) | global_shuffle(), {.ask_max = 4096}).elements;
  std::sort(got.begin(), got.end());
  CHECK(got == numbers_up_to(65'537));
}

TEST_CASE("the order of global_shuffle is that of its seed on any number of workers") {
  auto ds = range(2000) | map([](int64 x) { return 2 * x; }, {.parallelism = 4}) | global_shuffle({.seed = 11}) |
            prefetch(16);
  const int64s expected = in_order(consume(range(2000) | map(expr<int64>("2 * it")), {}).elements, mix(11));
  for (unsigned workers : {1u, 2u, 8u}) {
    runtime rt({.workers = workers});
    CHECK(consume_on(rt, ds, {}).elements == expected);
  }
}

TEST_CASE("a resume and a skip make one element, wherever they lead") {
  static std::atomic<int> made;
  auto ds = range(1'000'000'000'000) | map([](int64 x) { return ++made, x; }) | batch(3, {.drop_remainder = true}) |
            global_shuffle({.seed = 5}) | map([](const batched<int64>& b) { return b.values()[0]; });
  const index_permutation order(333'333'333'333, mix(5));
  consumption far;
  far.skip = 123'456'789'012;
  far.elements_max = 2;
  far.ask_max = 1;
  far.save = true;
  made = 0;
  consumed c = consume(ds, far);
  CHECK(c.elements ==
        int64s{static_cast<int64>(3 * order[123'456'789'012]), static_cast<int64>(3 * order[123'456'789'013])});
  CHECK(made == 6);
  made = 0;
  consumption on;
  on.from = c.places.at(1);
  on.elements_max = 1;
  on.ask_max = 1;
  CHECK(consume(ds, on).elements == int64s{static_cast<int64>(3 * order[123'456'789'013])});
  CHECK(made == 3);
}

TEST_CASE("elements before a bad one come before its error") {
  auto bad_at = [](int64 bad) {
    return range(40) | map([bad](int64 x) {
             if (x == bad) throw_status(data_loss_error("a bad element"));
             return x;
           }) |
           global_shuffle({.seed = 7});
  };
  const int64s expected = in_order(numbers_up_to(40), mix(7));
  for (std::uint32_t ask : {0u, 1u, 7u, 64u}) {
    consumed c = consume(bad_at(expected[17]), {.ask_max = ask, .asks_all = true});
    CHECK(c.elements == first_of(expected, 17));
    CHECK(c.why.code() == status_code::data_loss);
    CHECK_THAT(c.why.to_string(), Catch::Contains("a bad element"));
    consumed dropped =
        consume(bad_at(expected[17]), {.ask_max = ask, .asks_all = true, .on_error = error_policy::skip});
    int64s others = expected;
    others.erase(others.begin() + 17);
    CHECK(dropped.elements == others);
    CHECK(dropped.errors.back() == 1);
  }
}

TEST_CASE("tensors, their batches and options seek") {
  const std::string slices = "from_tensor_slices([[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]])";
  for (const std::string& plan :
       {slices, std::string("from_tensors([7])"), slices + " | ragged_batch(2)", slices + " | sparse_batch(2, [2])",
        std::string("range(7) | with_options(on_error=stop)")}) {
    CAPTURE(plan);
    auto whole = run_of(parse_plan(plan)).elements;
    auto shuffled = run_of(parse_plan(plan + " | global_shuffle(seed=3)"));
    CHECK(shuffled.end == "end");
    CHECK(std::ranges::is_permutation(shuffled.elements, whole));
    auto last = run_of(parse_plan(plan + " | skip(" + std::to_string(whole.size() - 1) + ")"));
    CHECK(last.elements == std::vector<std::string>{whole.back()});
  }
}

}  // namespace sluice::lib::global_shuffle_test
