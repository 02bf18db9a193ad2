// SPDX-License-Identifier: Apache-2.0
#include "runtime/timers/timer_heap.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "sluice/base/random_bits.hpp"

namespace sluice::lib::timer_heap_test {

TEST_CASE("timers fire by due time, and those of one time in the order of their arming", "[timer]") {
  for (std::uint64_t seed = 1; seed != 50; ++seed) {
    timer_heap heap;
    std::vector<timer_node> nodes(200);
    std::vector<std::pair<time_point, std::size_t>> expected;
    for (std::size_t i = 0; i != nodes.size(); ++i) {
      nodes[i].due = time_point(std::chrono::milliseconds(draw(seed, i, 20)));
      heap.push(nodes[i]);
      expected.emplace_back(nodes[i].due, i);
    }
    for (std::size_t i = 0; i != nodes.size(); ++i) {
      if (draw(seed, 1000 + i, 3) != 0) continue;
      CHECK(heap.erase(nodes[i]));
      CHECK_FALSE(heap.erase(nodes[i]));
      std::erase(expected, std::pair(nodes[i].due, i));
    }
    std::sort(expected.begin(), expected.end());
    CHECK(heap.size() == expected.size());
    for (auto [due, i] : expected) {
      CHECK(heap.next_due() == due);
      CHECK(heap.pop() == &nodes[i]);
    }
    CHECK(heap.empty());
  }
}

}  // namespace sluice::lib::timer_heap_test
