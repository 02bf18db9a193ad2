// SPDX-License-Identifier: Apache-2.0
// The table that a resume finds by looking back must be the one that a run has come to by going on.
#include "op/shuffle/shuffle_table.hpp"

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::shuffle_table_test {
namespace {

constexpr std::uint64_t kUnknown = shuffle_table::kUnknown;

std::vector<std::uint64_t> places(const shuffle_table& t) {
  std::vector<std::uint64_t> all(t.held());
  for (std::uint32_t i = 0; i != all.size(); ++i) all[i] = t.ordinal(i);
  return all;
}

std::uint64_t lowest_in(const shuffle_table& t) {
  auto all = places(t);
  return *std::min_element(all.begin(), all.end());
}

/// What a resume does, with ordinals for elements: fetches in input order, then takes out again what was taken. Returns what
/// is in the places then; `fetched`: in which order it came.
std::vector<std::uint64_t> fetched_again(shuffle_table& t, std::vector<std::uint64_t>& fetched) {
  std::vector<std::uint64_t> held(t.held(), kUnknown);
  std::vector<std::uint32_t> run;
  for (std::uint64_t at = t.held_from(); at < t.next(); at += run.size()) {
    at = t.next_run(at, run);
    for (std::size_t i = 0; i != run.size(); ++i) {
      CHECK(held[run[i]] == kUnknown);
      held[run[i]] = at + i;
      fetched.push_back(at + i);
    }
  }
  CHECK(fetched.size() == t.held() - t.to_remove());
  while (t.to_remove()) {
    std::uint32_t hole = t.remove();
    held[hole] = held.back();
    held.pop_back();
  }
  return held;
}

}  // namespace

TEST_CASE("looking back finds the same table as drawing forward, at every draw", "[shuffle]") {
  simulation sim(1);
  runtime rt(sim);
  for (std::uint64_t seed = 1; seed != 6; ++seed)
    for (std::uint64_t size : {1, 2, 7, 40})
      for (std::uint64_t length : {0, 1, 5, 7, 40, 100}) {
        CAPTURE(seed, size, length);
        std::uint64_t held = std::min(size, length);
        shuffle_table going(seed, size);
        going.filled(held);
        if (length < size) going.shorten(length);
        std::vector<std::uint64_t> given;
        for (std::uint64_t draws = 0; draws <= length; ++draws) {
          bool more = draws < length - held;
          shuffle_table found(seed, size);
          sync_wait(rt, found.look_back(draws, more ? kUnknown : length));
          if (draws > 0 || !more) {
            std::vector<std::uint64_t> fetched;
            CHECK(fetched_again(found, fetched) == places(going));
            CHECK(std::is_sorted(fetched.begin(), fetched.end()));
            CHECK(places(found) == places(going));
            CHECK(found.next() == going.next());
          }
          auto now = places(going);
          std::uint64_t oldest = now.empty() ? going.next() : *std::min_element(now.begin(), now.end());
          CHECK(going.held_from() <= oldest);
          if (!now.empty()) CHECK(found.held_from() <= oldest);
          if (draws == length) break;
          if (!more) going.ended();
          std::uint32_t slot = more ? going.exchange() : going.remove();
          given.push_back(now[slot]);
        }
        std::sort(given.begin(), given.end());
        for (std::uint64_t i = 0; i != length; ++i) CHECK(given[i] == i);  // each once
      }
}

TEST_CASE("the oldest element held is found a part at a time, and is never younger than it is", "[shuffle]") {
  constexpr std::uint64_t kSize = 3'000'000;  // three looks
  shuffle_table t(3, kSize);
  t.filled(kSize);
  std::uint64_t lag_max = 0;
  for (int round = 0; round != 60; ++round) {
    for (int i = 0; i != 500'000; ++i) t.exchange();
    std::uint64_t told = t.held_from();
    if (round % 10 != 9) continue;
    std::uint64_t oldest = lowest_in(t);
    CHECK(told <= oldest);
    lag_max = std::max(lag_max, oldest - told);
  }
  CHECK(lag_max < 2 * kSize);
  t.ended();
  for (int round = 0; round != 6; ++round) {
    for (int i = 0; i != 490'000; ++i) t.remove();
    std::uint64_t told = t.held_from();
    CHECK(told <= lowest_in(t));
  }
}

}  // namespace sluice::lib::shuffle_table_test
