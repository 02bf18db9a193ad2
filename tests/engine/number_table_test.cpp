// SPDX-License-Identifier: Apache-2.0
// src/base/number_table.hpp
#include <cstdint>
#include <map>
#include <vector>

#include <catch2/catch.hpp>

#include "base/number_table.hpp"
#include "sluice/base/random_bits.hpp"

namespace sluice::lib::number_table_test {
namespace {

/// Adds and removes; between two the table has to say what the map says, also of numbers that it has not.
void agrees_with_a_map(random_source& random, const std::vector<std::uint64_t>& numbers, int steps) {
  number_table table;
  std::map<std::uint64_t, std::uint32_t> map;
  for (int step = 0; step != steps; ++step) {
    const std::uint64_t number = numbers[random.below(numbers.size())];
    if (map.erase(number)) {
      table.remove(number);
    } else {
      const auto value = static_cast<std::uint32_t>(random.below(1000) + 1);
      map.emplace(number, value);
      table.add(number, value);
    }
    if (step % 16) continue;
    REQUIRE(table.size() == map.size());
    for (std::uint64_t n : numbers) {
      auto known = map.find(n);
      REQUIRE(table.find(n) == (known == map.end() ? number_table::kNone : known->second));
    }
  }
}

}  // namespace

TEST_CASE("a table of numbers equals a map", "[number_table]") {
  random_source random(GENERATE(1u, 2u, 3u));
  std::vector<std::uint64_t> near, far, apart, turned;
  for (std::uint64_t i = 0; i != 300; ++i) {
    near.push_back(i);
    far.push_back(i << 40);                    // the same lowest bits
    apart.push_back(i * 64);                   // of which a small table has too few
    turned.push_back((i - 150) ^ 1ull << 63);  // codes of signed numbers around 0
  }
  agrees_with_a_map(random, near, 2000);
  agrees_with_a_map(random, far, 2000);
  agrees_with_a_map(random, apart, 2000);
  agrees_with_a_map(random, turned, 2000);
  agrees_with_a_map(random, {0, 64, 128, 1, 65, 63, 127, ~0ull}, 4000);  // around each other's places, and the end
}

}  // namespace sluice::lib::number_table_test
