// SPDX-License-Identifier: Apache-2.0
// src/op/unique/trace_table.hpp
#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "op/unique/trace_table.hpp"
#include "support/random/random_numbers.hpp"

namespace sluice::lib::trace_table_test {
namespace {

using numbers = std::pair<std::uint64_t, std::uint64_t>;

std::set<numbers> all_of(const trace_table& t) {
  std::set<numbers> all;
  t.for_each([&](const element_trace& x) { CHECK(all.insert({x.low, x.high}).second); });
  return all;
}

}  // namespace

TEST_CASE("a table of traces equals a set, while it grows and traces are removed from it") {
  test::random_numbers random(7);
  for (std::uint32_t words : {1u, 2u}) {
    // Few numbers, so that many come again; of one order too, which stand behind each other wherever the table ends.
    for (std::uint64_t many : {10u, 300u, 20'000u}) {
      trace_table table(words);
      std::set<numbers> expected;
      for (int round = 0; round != 200; ++round) {
        std::vector<element_trace> some(random.below(400) + 1);
        for (element_trace& t : some) {
          const std::uint64_t x = random.below(many);
          const bool is_alike = words == 2 && x % 50 == 1;
          t = is_alike ? element_trace{12345 ^ mix(x), x} : element_trace{x, words == 2 ? x / 2 : 0};
        }
        const auto is_new = std::make_unique<bool[]>(some.size());
        for (std::size_t at = 0; at != some.size();) {
          if (table.room() == 0) table.grow(table.slots_grown());
          const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(some.size() - at, table.room()));
          table.insert(some.data() + at, n, is_new.get() + at);
          at += n;
        }
        std::size_t wrong = 0;
        for (std::size_t i = 0; i != some.size(); ++i)
          wrong += is_new[i] != expected.insert({some[i].low, some[i].high}).second;
        CHECK(wrong == 0);
        for (const element_trace& t : some) {
          if (random.below(4) || !expected.erase({t.low, t.high})) continue;
          table.erase(t);
        }
        REQUIRE(table.size() == expected.size());
      }
      CHECK((all_of(table) == expected));
      CHECK(table.slots() * 3 / 4 < std::max<std::uint64_t>(2 * many, 64));
    }
  }
}

TEST_CASE("traces at the end of a table wrap to its front") {
  // A table of 64 slots, and traces whose places are the last three.
  trace_table table(1);
  table.grow(64);
  std::vector<element_trace> last;
  for (std::uint64_t x = 1; last.size() != 12; ++x)
    if (element_trace t{x, 0}; t.order() >> 58 >= 61) last.push_back(t);
  bool is_new[12];
  table.insert(last.data(), 12, is_new);
  CHECK(std::count(is_new, is_new + 12, true) == 12);
  for (std::size_t gone = 0; gone != 12; ++gone) {
    table.erase(last[gone]);
    table.insert(last.data() + gone + 1, static_cast<std::uint32_t>(11 - gone), is_new);
    CHECK(std::count(is_new, is_new + (11 - gone), true) == 0);
    CHECK(table.size() == 11 - gone);
  }
}

}  // namespace sluice::lib::trace_table_test
