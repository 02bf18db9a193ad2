// SPDX-License-Identifier: Apache-2.0
// Where bad elements are counted, and where errors_max ends a run: at the place among the elements where a plan without
// channels meets them, whatever works ahead, on any number of workers. (The same for random plans: op/random_plans_test.cpp.)
#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "pipeline/file_world.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"

namespace sluice::lib::error_counts_test {
namespace {

using namespace testing;
using Catch::Contains;
using int64 = std::int64_t;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// What a run gave, and what it had counted when it gave it.
struct counted_run {
  texts elements;
  std::vector<std::uint64_t> errors;  ///< after each element, and at the end
  texts first_errors;
  std::string end;
  std::string to_string() const {
    std::string text;
    for (std::size_t i = 0; i != errors.size(); ++i)
      text += (i < elements.size() ? elements[i] : end) + "(" + std::to_string(errors[i]) + ") ";
    for (const std::string& e : first_errors) text += "; " + e;
    return text;
  }
};

iterate_options skipping(std::uint64_t errors_max = kNoLimit) {
  iterate_options o;
  o.on_error = error_policy::skip;
  o.errors_max = errors_max;
  return o;
}

template <class T> task<void> count_into(runtime& rt, const dataset<T>& ds, std::uint64_t errors_max, counted_run& c) {
  auto s = ds.iterate(rt, skipping(errors_max));
  for (;;) {
    auto x = co_await s.try_next();
    c.errors.push_back(report_of(s).errors);
    if (!x) {
      c.end = x.why.to_string();
      break;
    }
    c.elements.push_back(shown(*x));
  }
  for (const status& why : report_of(s).first_errors) c.first_errors.push_back(why.to_string());
  auto end = cleanup(std::move(s));
  co_await end;
}
template <class T> counted_run run_counted(runtime& rt, const dataset<T>& ds, std::uint64_t errors_max) {
  counted_run c;
  sync_wait(rt, count_into(rt, ds, errors_max, c));
  return c;
}

/// Each way gives what the first one gives, which has no channel: under many schedules of a simulation, and on real workers.
void check_same(const std::vector<dataset<int64>>& ways, const std::vector<std::uint64_t>& limits) {
  for (std::uint64_t limit : limits) {
    simulation first(1);
    runtime calm(first, {.workers = 1});
    const std::string right = run_counted(calm, ways[0], limit).to_string();
    for (const auto& ds : ways) {
      CAPTURE(plan_text(*ds.plan()), limit);
      for (std::uint64_t seed = 1, seeds = test::cases(30); seed <= seeds; ++seed) {
        simulation world(seed);
        runtime rt(world, {.workers = 2});
        CAPTURE(seed);
        CHECK(run_counted(rt, ds, limit).to_string() == right);
      }
      for (unsigned workers : {1u, 2u}) {
        runtime rt({.workers = workers});
        CAPTURE(workers);
        CHECK(run_counted(rt, ds, limit).to_string() == right);
      }
    }
  }
}

bool is_bad(int64 x) { return x % 7 == 3; }
int64 good(int64 x) {
  if (is_bad(x)) throw std::runtime_error("three is out");
  return x;
}
int64 not_five(int64 x) {
  if (x % 11 == 5) throw std::runtime_error("five is out");
  return x;
}
/// Late elements first: the later of two that fail is done before the earlier one.
task<int64> good_later(int64 x) {
  co_await sleep_for(std::chrono::microseconds(40 - x % 40));
  co_return good(x);
}
int64 slowly_good(int64 x) {
  for (volatile int64 i = 0; i < (x % 50 == 0 ? 20'000 : 100);) i = i + 1;
  return good(x);
}
stream<int64> twice(stateless, stream<int64> in) {
  while (auto x = co_await in.next()) {
    int64 n = *x;
    co_yield n;
    co_yield n + 1000;
  }
}
stream<int64> halves(stateless, stream<int64> in) {
  while (auto x = co_await in.next())
    if (int64 n = *x; n % 2 == 0) co_yield n;
}
auto each_twice = [](stream<int64> in) { return twice(stateless(), std::move(in)); };
auto each_second = [](stream<int64> in) { return halves(stateless(), std::move(in)); };
dataset<int64> some_good(int64 x) { return range(10 * x + 9, {.start = 10 * x}) | map(good); }
dataset<int64> some_good_ahead(int64 x) { return range(10 * x + 9, {.start = 10 * x}) | map(good, {.parallelism = 3}); }
dataset<int64> opened_or_not(int64 x) { return some_good(not_five(x)); }

const std::vector<std::uint64_t> kLimits = {0, 1, 2, 3, 7, 12, kNoLimit};

}  // namespace

TEST_CASE("bad elements count when the elements after them are delivered, and one too many ends the stream there") {
  file_world w;
  for (const auto& ds : {range(60) | map(good), range(60) | map(good, {.parallelism = 8}),
                         range(60) | map(good_later, {.parallelism = 8}), range(60) | map(good) | prefetch(50)}) {
    CAPTURE(plan_text(*ds.plan()));
    counted_run got = run_counted(w.rt, ds, 2);
    CHECK(got.elements == without(numbers(0, 17), {3, 10}));
    CHECK(got.errors == std::vector<std::uint64_t>{0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2});
    CHECK(got.end ==
          "unknown: map at element 17: three is out; one more than errors_max=2 of the run, which --errors-max raises, "
          "in "
          "C++ iterate_options::errors_max");
    CHECK(got.first_errors.size() == 2);
  }
}

TEST_CASE("a parallel map counts errors, and ends at errors_max, as the sequential one") {
  check_same(
      {range(100) | map(good), range(100) | map(good, {.parallelism = 2}), range(100) | map(good, {.parallelism = 8}),
       range(100) | map(slowly_good, {.parallelism = 3}), range(100) | map(good_later),
       range(100) | map(good_later, {.parallelism = 5}), range(100) | map(good_later, {.parallelism = 64}),
       range(100) | map(good) | prefetch(1), range(100) | map(good) | prefetch(30),
       range(100) | prefetch(7) | map(good, {.parallelism = 4}) | prefetch()},
      kLimits);
}

TEST_CASE("errors of several stages count in the order of the elements, for any work ahead between them") {
  check_same({range(100) | map(good) | map(not_five), range(100) | map(good, {.parallelism = 4}) | map(not_five),
              range(100) | map(good) | map(not_five, {.parallelism = 4}),
              range(100) | map(good_later, {.parallelism = 4}) | prefetch(3) | map(not_five, {.parallelism = 3}),
              range(100) | map(good) | prefetch(20) | map(not_five) | prefetch(20)},
             kLimits);
}

TEST_CASE("errors upstream of a user's stage count between its outputs") {
  check_same(
      {range(60) | map(good) | transform(each_twice) | map(not_five),
       range(60) | map(good, {.parallelism = 4}) | transform(each_twice) | map(not_five),
       range(60) | map(good) | prefetch(9) | transform(each_twice) | prefetch(9) | map(not_five, {.parallelism = 2})},
      kLimits);
  check_same({range(60) | map(good) | transform(each_second) | map(not_five),
              range(60) | map(good_later, {.parallelism = 4}) | transform(each_second) | prefetch(4) | map(not_five)},
             kLimits);
}

TEST_CASE("errors of an interleave's inputs, openings and inner plans count at their places") {
  for (int64 width : {1, 3})
    for (int64 block : {1, 4}) {
      CAPTURE(width, block);
      auto in = [=](int64 parallelism) {
        return interleave(opened_or_not, {.cycle_length = width, .block_length = block, .parallelism = parallelism});
      };
      auto ahead = interleave(some_good_ahead, {.cycle_length = width, .block_length = block, .parallelism = 3});
      check_same({range(14) | map(good) | in(1), range(14) | map(good) | in(2), range(14) | map(good) | in(8),
                  range(14) | prefetch(3) | map(good_later, {.parallelism = 3}) | in(3) | prefetch(5)},
                 {0, 1, 2, 5, 9, kNoLimit});
      check_same({range(5) | interleave(some_good, {.cycle_length = width, .block_length = block}), range(5) | ahead},
                 {0, 1, 2, 5, kNoLimit});
    }
}

TEST_CASE("errors upstream of stages that hold or skip elements count alike with and without channels") {
  check_same({range(90) | map(good) | batch(4) | unbatch() | map(not_five),
              range(90) | map(good, {.parallelism = 4}) | batch(4) | prefetch(2) | unbatch() | map(not_five)},
             kLimits);
  check_same({range(90) | map(good) | shuffle(10, {.seed = 3}) | map(not_five),
              range(90) | map(good_later, {.parallelism = 4}) | shuffle(10, {.seed = 3}) | map(not_five) | prefetch(7)},
             kLimits);
  check_same({range(90) | map(good) | skip(20) | map(not_five) | take(30),
              range(90) | map(good, {.parallelism = 3}) | skip(20) | map(not_five, {.parallelism = 3}) | take(30)},
             kLimits);
  check_same({range(20) | map(good) | repeat(3) | map(not_five),
              range(20) | map(good_later, {.parallelism = 3}) | repeat(3) | prefetch(5) | map(not_five)},
             kLimits);
}

TEST_CASE("damaged records and files that cannot be opened count, and end a run, as without read-ahead") {
  texts records = some_records(12);
  for (std::uint64_t limit : {0, 1, 2, 4, 100}) {
    std::string right;
    for (int way = 0; way != 4; ++way)
      for (std::uint64_t seed = 1; seed != 8; ++seed) {
        file_world w(seed);
        std::string bytes = framed(records);
        w.files->put("a", flipped(bytes, frame_of(records, 5) + kTfrecordHeaderBytes));
        w.files->put("b", flipped(bytes, frame_of(records, 0) + kTfrecordHeaderBytes));
        w.files->put("c", flipped(bytes, frame_of(records, 11) + kTfrecordHeaderBytes));
        w.files->put("d", bytes);
        int64 parallelism = way < 2 ? 1 : 3;
        auto ds = from_elements<std::string>({"a", "gone", "b", "c", "lost", "d"}) |
                  interleave(tfrecord, {.cycle_length = 2, .block_length = 2, .parallelism = parallelism});
        if (way % 2) ds = ds | prefetch(10);
        counted_run got = run_counted(w.rt, ds, limit);
        if (right.empty()) right = got.to_string();
        CAPTURE(limit, way, seed);
        CHECK(got.to_string() == right);
        if (limit == 100) CHECK(got.errors.back() == 5);
      }
  }
}

TEST_CASE("a sloppy map has counted its dropped elements at the end, and errors_max ends it") {
  for (std::uint64_t seed = 1; seed != 10; ++seed) {
    file_world w(seed);
    auto ds = range(60) | map(good_later, {.parallelism = 4, .order = order::sloppy});
    counted_run whole = run_counted(w.rt, ds, kNoLimit);
    CHECK(whole.elements.size() == 51);
    CHECK(whole.errors.back() == 9);
    counted_run cut = run_counted(w.rt, ds, 4);
    CHECK(cut.errors.back() == 4);
    CHECK_THAT(cut.end, Contains("three is out"));
  }
}

TEST_CASE("a stream that ends before the elements worked on ahead counts only errors before its end") {
  for (unsigned workers : {1u, 2u}) {
    runtime rt({.workers = workers});
    CHECK(run_counted(rt, range(1000) | map(good, {.parallelism = 8}) | take(3), 0).errors.back() == 0);
    CHECK(run_counted(rt, range(1000) | map(good) | prefetch(100) | take(3), 0).end == "ok");
  }
}

TEST_CASE("endless bad elements stop at errors_max behind any channel, in bounded memory") {
  auto never = [](int64 x) -> result<int64> { return data_loss_error("element " + std::to_string(x) + " is bad"); };
  auto no_plan = [never](int64) { return range(1'000'000'000'000) | map(never); };
  std::vector<dataset<int64>> ways = {
      range(1'000'000'000'000) | map(never),
      range(1'000'000'000'000) | map(never, {.parallelism = 3}),
      range(1'000'000'000'000) | map(never) | prefetch(5),
      range(3) | interleave(no_plan, {.cycle_length = 1, .parallelism = 2}),
      range(3) | interleave(no_plan, {.cycle_length = 1}) | transform(each_twice) | prefetch(2),
  };
  for (std::uint64_t limit : {0, 10, 900, 5000}) {
    for (const auto& ds : ways) {
      runtime rt({.workers = 2, .memory_budget_bytes = 16 << 20});
      CAPTURE(plan_text(*ds.plan()), limit);
      counted_run got = run_counted(rt, ds, limit);
      CHECK(got.elements.empty());
      CHECK(got.errors.back() == limit);
      if (limit < 1000) CHECK_THAT(got.end, Contains("element " + std::to_string(limit) + " is bad"));
      CHECK(rt.ledger().report().peak_bytes < 32 << 20);
    }
  }
}

TEST_CASE("errors that come to a user's stage by way of a when_all are counted, too") {
  struct stage {
    static task<int64> sum_of(stream<int64>& in, int64 n) {
      int64 sum = 0;
      for (; n; --n) {
        auto x = co_await in.next();
        if (!x) break;
        sum += *x;
      }
      co_return sum;
    }
    static stream<int64> sums(stream<int64> in) {
      for (int i = 0; i != 4; ++i) {
        auto one = sum_of(in, 5);
        std::vector<task<int64>> all;
        all.push_back(std::move(one));
        auto both = when_all(std::move(all));
        auto got = co_await both;
        co_yield got[0];
      }
    }
  };
  file_world w;
  counted_run got = run_counted(w.rt, range(100) | map(good) | transform(stage::sums), kNoLimit);
  CHECK(got.elements.size() == 4);
  CHECK(got.errors.back() == 3);
  CHECK_THAT(run_counted(w.rt, range(100) | map(good) | transform(stage::sums), 1).end, Contains("three is out"));
}

}  // namespace sluice::lib::error_counts_test
