// SPDX-License-Identifier: Apache-2.0
// The table that a resume finds by looking back must be the one that a run has come to by going on.
#include "op/shuffle_table.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace sluice::lib;

namespace {

constexpr std::uint64_t kUnknown = shuffle_table::kUnknown;

std::vector<std::uint64_t> places(const shuffle_table& t) {
  std::vector<std::uint64_t> all(t.held());
  for (std::uint32_t i = 0; i != all.size(); ++i) all[i] = t.ordinal(i);
  return all;
}

}  // namespace

TEST_CASE("looking back finds the same table as going on, at every draw", "[shuffle]") {
  for (std::uint64_t seed = 1; seed != 6; ++seed)
    for (std::uint64_t size : {1, 2, 7, 40})
      for (std::uint64_t length : {0, 1, 5, 7, 40, 100}) {
        CAPTURE(seed, size, length);
        std::uint64_t held = std::min(size, length);
        shuffle_table going(seed, size, 0, kUnknown);
        going.filled(held);
        if (length < size) going.shorten(length);
        std::vector<std::uint64_t> given;
        for (std::uint64_t draws = 0; draws <= length; ++draws) {
          bool more = draws < length - held;
          shuffle_table found(seed, size, draws, more ? kUnknown : length);
          if (draws > 0 || !more) {
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

TEST_CASE("what is held is named in input order", "[shuffle]") {
  shuffle_table t(3, 16, 1000, kUnknown);
  auto slots = t.slots_by_ordinal();
  REQUIRE(slots.size() == 16);
  for (std::size_t i = 1; i != slots.size(); ++i) CHECK(t.ordinal(slots[i - 1]) < t.ordinal(slots[i]));
  CHECK(t.held_from() == t.ordinal(slots[0]));
}
