// SPDX-License-Identifier: Apache-2.0
// sluice/op/cache.hpp
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"
#include "support/elements.hpp"
#include "support/random/random_numbers.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/resumed_everywhere.hpp"
#include "support/until_error.hpp"

namespace sluice::lib::cache_test {
namespace {

using namespace test;
using int64 = std::int64_t;

/// A copyable element that counts its living objects.
struct as_counted {
  static constexpr const char* kName = "counted copies";
  struct element {
    static constexpr std::string_view sluice_name = "counted_copy";
    static inline std::atomic<int> live{0};
    explicit element(int64 x) : number(x) { ++live; }
    element(const element& o) : number(o.number) { ++live; }
    element(element&& o) noexcept : number(std::exchange(o.number, -1)) { ++live; }
    element& operator=(const element&) = default;
    ~element() { --live; }
    int64 number;
  };
  static element made(int64 x) { return element(x); }
  static int64 number(const element& e) { return e.number; }
};

std::size_t cached_bytes(runtime& rt) {
  return rt.ledger().report().by_purpose[static_cast<std::size_t>(purpose::cache)];
}

/// Numbers whose function counts its calls.
struct counted_numbers {
  std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
  dataset<int64> of(const dataset<int64>& in) const {
    return in | map([calls = calls](int64 x) {
             ++*calls;
             return x * x;
           });
  }
  int made() const { return calls->exchange(0); }
};

int64s squares(int64 first, int64 last) {
  int64s all;
  for (int64 x = first; x < last; ++x) all.push_back(x * x);
  return all;
}
int64s twice(int64s one) {
  const int64s again = one;
  one.insert(one.end(), again.begin(), again.end());
  return one;
}

task<int64s> first_ones(stream<int64> s, std::size_t n) {
  int64s got;
  while (got.size() != n) {
    auto x = co_await s.next();
    if (!x) break;
    got.push_back(*x);
  }
  co_return got;
}
int64s run(runtime& rt, const dataset<int64>& ds, std::size_t n = ~std::size_t{0}, std::uint64_t seed = 1) {
  return sync_wait(rt, first_ones(ds.iterate(rt, {.seed = seed}), n));
}

task<std::vector<int64s>> all_of(std::vector<task<int64s>> runs) {
  auto joined = when_all(std::move(runs));
  co_return co_await joined;
}

}  // namespace

TEST_CASE("a cache conforms for elements of every kind that can be copied") {
  const conformance all{.expected = [](const int64s& in) { return in; },
                        .before_error = [](const int64s& in) { return in; },
                        .needs = one_each};
  const auto stage = [](const auto& in) { return in | cache(); };
  conformance numbers = all;
  numbers.stage = stage;
  conforms(numbers);
  conforms_as<as_text>(stage, all);
  conforms_as<as_record>(stage, all);
  conforms_as<as_tensor>(stage, all);
  conforms_as<as_counted>(stage, all);
  CHECK(as_counted::element::live == 0);
}

TEST_CASE("two epochs of a cache conform") {
  conforms({.stage = [](const auto& in) { return in | cache() | repeat(2); },
            .expected = [](const int64s& in) { return twice(in); },
            .before_error = [](const int64s& in) { return in; }});
}

TEST_CASE("a cache makes each element once, in all epochs and runs of its dataset") {
  for (unsigned workers : {1u, 2u}) {
    runtime rt({.workers = workers});
    counted_numbers numbers;
    const auto ds = numbers.of(range(5000)) | cache();
    CHECK(run(rt, ds | repeat(3)) == [] {
      int64s all = twice(squares(0, 5000));
      const int64s one = squares(0, 5000);
      all.insert(all.end(), one.begin(), one.end());
      return all;
    }());
    CHECK(numbers.made() == 5000);
    CHECK(run(rt, ds) == squares(0, 5000));
    CHECK(run(rt, ds | map([](int64 x) { return x + 1; }) | skip(4999)) == int64s{4999 * 4999 + 1});
    CHECK(numbers.made() == 0);
    const auto equal = numbers.of(range(5000)) | cache();  // another call of cache()
    CHECK(run(rt, equal) == squares(0, 5000));
    CHECK(numbers.made() == 5000);
    runtime other({.workers = 1});
    CHECK(run(other, ds, 10) == squares(0, 10));
    CHECK(numbers.made() >= 10);
  }
}

// tf.data discards the elements of an epoch that is not read to its end ("did not fully read the dataset being cached").
TEST_CASE("an epoch that ends early leaves its elements to the next one") {
  runtime rt({.workers = 1});
  counted_numbers numbers;
  const auto ds = numbers.of(range(10'000)) | cache();
  CHECK(run(rt, ds | take(3000)) == squares(0, 3000));
  const int first = numbers.made();
  CHECK(first == 3000);
  CHECK(run(rt, ds, 3500) == squares(0, 3500));  // the consumer leaves
  CHECK(run(rt, ds) == squares(0, 10'000));
  // What it makes again is at most a block.
  const int rest = numbers.made();
  CHECK(rest >= 7000);
  CHECK(rest <= 7000 + 2048);
  CHECK(run(rt, ds) == squares(0, 10'000));
  CHECK(numbers.made() == 0);
}

TEST_CASE("a cache continues its input at the position of its last block, and not from the start") {
  runtime rt({.workers = 1});
  auto calls = std::make_shared<std::atomic<int>>(0);
  // A filter must call its function to skip an element.
  const auto ds = range(100'000) | filter([calls](int64) {
                    ++*calls;
                    return true;
                  }) |
                  cache();
  run(rt, ds, 90'000);
  calls->store(0);
  CHECK(run(rt, ds) == run(rt, range(100'000)));
  CHECK(*calls >= 1);
  CHECK(*calls < 10'000 + 3 * 4096);
}

TEST_CASE("an error leaves the elements before it, and a run after it makes the rest") {
  runtime rt({.workers = 1});
  auto fails = std::make_shared<std::atomic<bool>>(true);
  auto calls = std::make_shared<std::atomic<int>>(0);
  const auto ds = range(3000) | map([fails, calls](int64 x) {
                    ++*calls;
                    if (x == 2000 && *fails) throw std::runtime_error("the disk is gone");
                    return x * x;
                  }) |
                  cache();
  status why;
  CHECK(sync_wait(rt, until_error(ds.iterate(rt), why)) == squares(0, 2000));
  CHECK_THAT(why.to_string(), Catch::Contains("the disk is gone") && Catch::Contains("map"));
  CHECK_THAT(why.to_string(), Catch::Contains("element 2000"));
  *fails = false;
  calls->store(0);
  CHECK(run(rt, ds) == squares(0, 3000));
  CHECK(*calls <= 1000 + 1024);
}

TEST_CASE("elements that are dropped are not in the cache, and are counted by the run that meets them") {
  runtime rt({.workers = 1});
  const auto ds = range(100) | map([](int64 x) {
                    if (x % 10 == 3) throw std::runtime_error("bad");
                    return x;
                  }) |
                  cache();
  consumption skipping;
  skipping.on_error = error_policy::skip;
  consumed first = consume_on(rt, ds, skipping), second = consume_on(rt, ds, skipping);
  CHECK(first.elements.size() == 90);
  CHECK(second.elements == first.elements);
  CHECK(first.errors.back() == 10);
  CHECK(second.errors.back() == 0);
  // Under another policy the elements have other numbers, so they are in another cache.
  consumed stopping = consume_on(rt, ds, {});
  CHECK(stopping.elements == int64s{0, 1, 2});
  CHECK_THAT(stopping.why.to_string(), Catch::Contains("bad"));
}

TEST_CASE("a stage's own policy and ignore_errors drop the same elements with a cache") {
  runtime rt({.workers = 1});
  const int64s kept = {-3, -5, -10, 10};
  for (const char* plan : {"range(5) | map(10 / (it - 3), on_error=skip) | cache | repeat(2)",
                           "range(5) | map(10 / (it - 3)) | cache | ignore_errors | repeat(2)",
                           "range(5) | map(10 / (it - 3)) | ignore_errors | cache | repeat(2)"}) {
    CAPTURE(plan);
    const consumed got = consume_on(rt, dataset<int64>(parse_plan(plan)), {});
    CHECK(got.elements == twice(kept));
    CHECK(got.errors.back() == 1);  // met in the first epoch only
  }
}

TEST_CASE("a run with another seed reads none of the elements of the first") {
  runtime rt({.workers = 1});
  const auto plain = range(2000) | shuffle(500);
  const auto ds = plain | cache();
  const int64s first = run(rt, plain, 2000, 1), second = run(rt, plain, 2000, 2);
  REQUIRE(first != second);
  CHECK(run(rt, ds, 1000, 1) == int64s(first.begin(), first.begin() + 1000));
  CHECK(run(rt, ds | repeat(2), 4000, 2) == twice(second));
  CHECK(run(rt, ds, 2000, 1) == first);
  // One cache is kept: that of the last seed.
  const std::size_t bytes = cached_bytes(rt);
  for (std::uint64_t seed = 3; seed != 40; ++seed) run(rt, ds, 2000, seed);
  CHECK(cached_bytes(rt) <= 2 * bytes);
  // Without draws of the run's seed, all runs share one.
  counted_numbers numbers;
  const auto seeded = numbers.of(range(2000)) | shuffle(500, {.seed = 9}) | cache();
  run(rt, seeded, 2000, 1);
  CHECK(numbers.made() == 2000);
}

TEST_CASE("draws are those of the first epoch, also in a run that begins in a later one") {
  runtime rt({.workers = 1});
  const auto plain = range(50) | shuffle(50);
  const int64s first = run(rt, plain);
  const auto ds = plain | cache();
  CHECK(run(rt, ds | repeat(2)) == twice(first));
  for (std::uint64_t epoch : {0u, 1u, 7u}) {
    runtime fresh({.workers = 1});
    CHECK(sync_wait(fresh, first_ones(ds.iterate(fresh, {.seed = 1, .epoch = epoch}), 100)) == first);
  }
}

TEST_CASE("a cache is freed with the last dataset and run that have it, and with its runtime") {
  std::unique_ptr<runtime> rt = std::make_unique<runtime>(runtime_options{.workers = 1});
  {
    auto ds = range(5000) | map(as_counted::made) | cache() | map(as_counted::number);
    run(*rt, ds);
    CHECK(cached_bytes(*rt) >= 5000 * sizeof(int64));
    CHECK(as_counted::element::live == 5000);
    auto again = ds;
    ds = range(1);
    CHECK(as_counted::element::live == 5000);
    auto s = again.iterate(*rt);
    again = range(1);
    CHECK(sync_wait(*rt, first_ones(std::move(s), 5000)).size() == 5000);
  }
  CHECK(as_counted::element::live == 0);
  CHECK(cached_bytes(*rt) == 0);
  auto outlives = range(5000) | map(as_counted::made) | cache() | map(as_counted::number);
  run(*rt, outlives);
  CHECK(as_counted::element::live == 5000);
  rt = nullptr;
  CHECK(as_counted::element::live == 0);
}

TEST_CASE("memory that epochs and runs use does not grow") {
  runtime rt({.workers = 1});
  const auto ds = range(4000) | shuffle(64) | cache() | batch(16) |
                  map([](const batched<int64>& b) { return static_cast<int64>(b.size()); });
  run(rt, ds);
  const std::size_t bytes = rt.ledger().used_bytes();
  for (int epoch = 0; epoch != 100; ++epoch) run(rt, ds);
  CHECK(rt.ledger().used_bytes() == bytes);
}

// tf.data writes all elements of a memory cache into each checkpoint.
TEST_CASE(
    "a checkpoint through a cache is small, and resumes in any epoch, here and in a process with an empty cache") {
  constexpr int64 kElements = 100'000;
  const auto ds = range(kElements) | shuffle(1000) | map([](int64 x) { return x + 1; }) | cache() | repeat(3);
  runtime rt({.workers = 1});
  const int64s all = run(rt, ds);
  REQUIRE(all.size() == 3 * kElements);
  for (std::size_t at : {std::size_t{0}, std::size_t{12'345}, std::size_t{150'000}, std::size_t{299'999}}) {
    auto place_at = [](stream<int64> s, std::size_t n) -> task<checkpoint> {
      for (std::size_t i = 0; i != n; ++i) co_await s.next();
      co_return s.position();
    };
    const checkpoint place = sync_wait(rt, place_at(ds.iterate(rt, {.seed = 1}), at));
    CHECK(place.bytes.size() <= 1024);
    const int64s rest(all.begin() + static_cast<std::ptrdiff_t>(at), all.end());
    CHECK(sync_wait(rt, first_ones(ds.iterate(rt, {.from = place}), all.size())) == rest);
    runtime fresh({.workers = 2});
    CHECK(sync_wait(fresh, first_ones(ds.iterate(fresh, {.from = place}), all.size())) == rest);
  }
}

TEST_CASE("a cache resumes at every element of every epoch") {
  resumes_everywhere(range(12) | shuffle(5) | cache() | repeat(3), consumption{.marks_every = 2});
  resumes_everywhere(range(12) | filter([](int64 x) { return x % 3 != 0; }) | cache() | batch(3) | unbatch() |
                     repeat(2));
  const auto kept = range(9) | map([](int64 x) { return 3 * x; }) | cache();
  resumes_everywhere(concatenate(kept | skip(4), kept));
}

// tf.data issue 47545: a zip of two iterators over one cache discards valid files of either.
TEST_CASE("two streams of one cache in a zip make each element once") {
  for (unsigned workers : {1u, 2u}) {
    runtime rt({.workers = workers});
    counted_numbers numbers;
    const auto kept = numbers.of(range(3000)) | cache();
    const auto ds =
        zip(kept, kept) | map([](const std::pair<int64, int64>& x) { return x.first == x.second ? x.first : -1; });
    CHECK(run(rt, ds) == squares(0, 3000));
    CHECK(numbers.made() == 3000);
    CHECK(run(rt, zip(kept | skip(1), kept | prefetch(16)) |
                      map([](const std::pair<int64, int64>& x) { return x.first - x.second; }))
              .size() == 2999);
    CHECK(numbers.made() == 0);
  }
}

// tf.data: range(10).cache("f") goes on to yield 0 … 4 after range(5).cache("f") was run.
TEST_CASE("a cache of another plan is never read") {
  runtime rt({.workers = 1});
  const auto tail = cache();
  const auto twice_it = [](int64 x) { return 2 * x; };
  const auto thrice_it = [](int64 x) { return 3 * x; };
  CHECK(run(rt, range(5) | tail) == int64s{0, 1, 2, 3, 4});
  CHECK(run(rt, range(10) | tail).size() == 10);
  const auto doubled = range(4) | map(twice_it) | tail, tripled = range(4) | map(thrice_it) | tail;
  CHECK(run(rt, doubled) == int64s{0, 2, 4, 6});
  CHECK(run(rt, tripled) == int64s{0, 3, 6, 9});
}

TEST_CASE("concurrent runs of one cache deliver all elements, whichever of them makes them") {
  runtime rt({.workers = 2});
  for (std::uint64_t seed = first_seed(); seed != first_seed() + cases(20); ++seed) {
    random_numbers random(seed);
    CAPTURE(seed);
    const auto ds = range(4000) | map([](int64 x) { return std::to_string(x * x); }, {.parallelism = 2}) | cache() |
                    map([](const std::string& s) { return static_cast<int64>(std::stoll(s)); });
    std::vector<task<int64s>> runs;
    std::vector<std::size_t> lengths;
    for (int k = 0; k != 4; ++k) {
      lengths.push_back(random.below(2) ? 4000 : random.below(4000));
      runs.push_back(first_ones(ds.iterate(rt), lengths.back()));
    }
    const std::vector<int64s> got = sync_wait(rt, all_of(std::move(runs)));
    for (std::size_t k = 0; k != got.size(); ++k) CHECK(got[k] == squares(0, static_cast<int64>(lengths[k])));
  }
}

TEST_CASE("without a fixed order all elements of a cache come from one pass") {
  const auto sorted = [](int64s v) {
    std::sort(v.begin(), v.end());
    return v;
  };
  for (std::uint64_t seed = first_seed(); seed != first_seed() + cases(50); ++seed) {
    CAPTURE(seed);
    simulation world(seed, {.cores = 2});
    runtime rt(world);
    random_numbers random(seed);
    const auto sloppy = [](int64 x) -> task<int64> {
      // In every other pass another element is late.
      static std::atomic<int64> passes = 0;
      if (x == 0) ++passes;
      const bool is_late = x == (passes % 2 == 0 ? 5 : 13);
      auto pause = sleep_for(std::chrono::microseconds(is_late ? 500 : x * 37 % 11));
      co_await pause;
      co_return x;
    };
    const auto ds = range(60) | map(sloppy, {.parallelism = 4, .order = order::sloppy}) | cache();
    int64s expected(60);
    std::iota(expected.begin(), expected.end(), 0);
    const std::size_t cut = random.below(61);
    const int64s start = run(rt, ds, cut);  // dropped: the next pass continues it
    const int64s all = run(rt, ds);
    CHECK(sorted(all) == expected);
    CHECK(std::equal(start.begin(), start.end(), all.begin()));
    CHECK(run(rt, ds) == all);
    CHECK(run(rt, ds | skip(7)) == int64s(all.begin() + 7, all.end()));
    // A stream beside the one that fills the cache has a pass of its own.
    const auto other = range(60) | map(sloppy, {.parallelism = 4, .order = order::sloppy}) | cache();
    auto s = other.iterate(rt, {.seed = 1});
    auto some = [](stream<int64>& from) -> task<void> {
      for (int i = 0; i != 20; ++i) co_await from.next();
    };
    sync_wait(rt, some(s));
    CHECK(sorted(run(rt, other)) == expected);
    CHECK(sync_wait(rt, first_ones(std::move(s), 60)).size() == 40);
    CHECK(sorted(run(rt, other | skip(0) | repeat(2))) == sorted(twice(expected)));
    // A run that skips elements makes them nevertheless: another pass could not.
    const auto third = range(60) | map(sloppy, {.parallelism = 4, .order = order::sloppy}) | cache();
    const int64s rest = run(rt, third | skip(7));
    const int64s whole = run(rt, third);
    CHECK(sorted(whole) == expected);
    CHECK(rest == int64s(whole.begin() + 7, whole.end()));
  }
}

TEST_CASE("a live source is read once, and its elements stay") {
  runtime rt({.workers = 1});
  auto [push, source] = from_channel<int64>({.elements = 100});
  const auto ds = source | cache();
  auto push_all = [](channel_sender<int64> to) -> task<void> {
    for (int64 i = 0; i != 50; ++i) co_await to(i);
    to.close();
  };
  sync_wait(rt, push_all(std::move(push)));
  int64s expected(50);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(run(rt, ds) == expected);
  CHECK(run(rt, ds | repeat(2)) == twice(expected));
}

TEST_CASE("a cache of elements that cannot be copied is refused when the plan is made") {
  auto refused = [] { return range(3) | map(as_move_only::made) | cache() | map(as_move_only::number); };
  CHECK_THROWS_WITH(refused(), Catch::Contains("cache: elements of type ") && Catch::Contains("cannot be copied") &&
                                   Catch::Contains("copy constructor"));
}

TEST_CASE("megabyte elements are charged, and those beyond half of the budget are not kept or end the stream") {
  constexpr std::size_t kBudget = std::size_t{64} << 20;
  auto image = [](int64 x) { return std::string(std::size_t{1} << 20, static_cast<char>('a' + x % 26)); };
  auto number = [](const std::string& s) { return static_cast<int64>(s.size()) + s[0]; };
  auto few = range(20) | map(image) | cache() | map(number) | repeat(2);
  auto many = range(100) | map(image) | cache() | map(number);
  auto unkept = range(100) | map(image) | cache({.over_budget = over_budget::stop_caching}) | map(number) | repeat(2);
  runtime rt({.workers = 1, .memory_budget_bytes = kBudget});
  CHECK(run(rt, few).size() == 40);
  CHECK(cached_bytes(rt) >= std::size_t{20} << 20);
  few = range(1);
  CHECK(cached_bytes(rt) == 0);
  status why;
  const int64s before = sync_wait(rt, until_error(many.iterate(rt), why));
  CHECK(why.code() == status_code::resource_exhausted);
  CHECK_THAT(why.to_string(), Catch::Contains("cache: the cache holds 3") &&
                                  Catch::Contains("over_budget=stop_caching") &&
                                  Catch::Contains("raise the memory budget"));
  CHECK(before.size() >= 30);
  CHECK(before.size() <= 33);
  many = range(1);
  CHECK(run(rt, unkept).size() == 200);
  CHECK(cached_bytes(rt) <= kBudget / 2);
  CHECK(cached_bytes(rt) >= kBudget / 4);
}

}  // namespace sluice::lib::cache_test
