// SPDX-License-Identifier: Apache-2.0
// A stream whose stages rest at their ends begins again: stream_base::begin_again, outlet::again
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "coro/positions/position_records.hpp"
#include "coro/test_world.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib::begin_again_test {
namespace {

using int64 = std::int64_t;
using int64s = std::vector<int64>;

/// What `of` has then, each time it begins.
erased_stream resting_numbers(outlet out, saved<std::uint64_t> at, const int64s* of) {
  for (;;) {
    while (*at < of->size()) {
      *at += out.pass(of->size() - *at);
      const std::uint32_t n = out.wanted_of(of->size() - *at);
      if (n == 0) break;
      auto* to = reinterpret_cast<int64*>(out.room(n));
      for (std::uint32_t i = 0; i != n; ++i) to[i] = (*of)[*at + i];
      *at += n;
      co_yield out.made(n);
    }
    auto over = out.again(&*at);
    co_await over;
  }
}
/// Sums of two; the last may be of one.
erased_stream resting_sums(outlet out, erased_stream in) {
  in.may_go_back();
  for (bool ended = false;;) {
    int64 sum = 0;
    std::uint32_t n = 0;
    while (n != 2 && !ended) {
      const std::uint64_t passed = out.pass(demand::kAll / 2);
      auto b = co_await in.next_block({passed * 2, 1});
      ended = !b;
      if (ended) out.unpass((in.skip_left() + 1) / 2);
      if (b) sum += *b.as<int64>();
      if (b) ++n;
    }
    in.hold_from(in.consumed());
    if (n) {
      *reinterpret_cast<int64*>(out.room(1)) = sum;
      co_yield out.made(1);
    }
    if (!ended) continue;
    auto over = out.again();
    co_await over;
    ended = false;
  }
}
/// One that ends for good.
erased_stream as_they_are(outlet out, erased_stream in) {
  while (auto b = co_await in.next_block({0, out.wanted()})) co_yield b;
}

erased_stream numbers_of(const int64s& all) {
  outlet out(type_of<int64>());
  saved<std::uint64_t> at;
  return resting_numbers(out, std::move(at), &all);
}
erased_stream sums_of(const int64s& all) {
  outlet out(type_of<int64>());
  return resting_sums(out, numbers_of(all));
}

task<void> read(erased_stream& s, std::size_t most, int64s& to) {
  while (to.size() < most) {
    auto b = co_await s.next_block({0, 1});
    if (!b) break;
    to.push_back(*b.as<int64>());
  }
}
int64s some(test_world& world, erased_stream& s, std::size_t most = ~std::size_t{0}) {
  int64s all;
  world.run(read(s, most, all));
  return all;
}
std::string position_of(erased_stream& s) {
  position_writer w;
  s.position(w);
  return w.bytes();
}

}  // namespace

TEST_CASE("a stream of stages that rest at their ends begins again", "[again]") {
  test_world world;
  int64s all{1, 2, 3, 4, 5};
  erased_stream s = sums_of(all);
  s.may_go_back();
  const std::string start = position_of(s);
  CHECK(!s.begin_again());  // it has not ended
  CHECK(some(world, s, 2) == int64s{3, 7});
  const std::string within = position_of(s);
  CHECK(!s.begin_again());
  CHECK(some(world, s) == int64s{5});
  for (int round = 0; round != 3; ++round) {
    all = {10 + round, 20, 30, 40};
    REQUIRE(s.begin_again());
    CHECK(s.consumed() == 0);
    CHECK(position_of(s) == start);
    CHECK(some(world, s, 2) == int64s{30 + round, 70});
    CHECK(position_of(s) == within);
    CHECK(some(world, s).empty());
  }
  all.clear();
  REQUIRE(s.begin_again());
  CHECK(some(world, s).empty());
  CHECK(s.begin_again());
}

TEST_CASE("a stream that has begun again is resumed as any other", "[again]") {
  test_world world;
  int64s all{7, 7, 7};
  erased_stream s = sums_of(all);
  s.may_go_back();
  some(world, s);
  all = {1, 2, 3, 4, 5, 6, 7};
  for (std::size_t taken = 0; taken <= 4; ++taken) {
    REQUIRE(s.begin_again());
    some(world, s, taken);
    erased_stream again = sums_of(all);
    position_records records(position_of(s));
    again.restore(records);
    CHECK(records.finish().ok());
    CAPTURE(taken);
    CHECK(some(world, again) == some(world, s));
  }
}

TEST_CASE("elements skipped by a request beyond the end are destroyed", "[again]") {
  test_world world;
  const int64s all{1, 2, 3, 4};
  erased_stream s = sums_of(all);
  auto pass = [](erased_stream& s) -> task<void> {
    auto b = co_await s.next_block({9, 1});
    CHECK(!b);
    CHECK(s.skip_left() == 7);
  };
  world.run(pass(s));
  REQUIRE(s.begin_again());
  CHECK(some(world, s) == int64s{3, 7});
}

TEST_CASE("a stream with a stage that ends for good does not begin again", "[again]") {
  test_world world;
  const int64s all{1, 2, 3};
  outlet out(type_of<int64>());
  erased_stream s = as_they_are(out, sums_of(all));
  CHECK(some(world, s) == int64s{3, 3});
  CHECK(!s.begin_again());
  CHECK(!erased_stream().begin_again());
}

}  // namespace sluice::lib::begin_again_test
