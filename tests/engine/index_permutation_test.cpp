// SPDX-License-Identifier: Apache-2.0
// src/base/index_permutation.hpp
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "base/index_permutation.hpp"
#include "support/budget.hpp"

namespace sluice::lib::index_permutation_test {
namespace {

using test::cases;
using test::first_seed;

/// Is each number below n there once?
bool is_permutation_of(std::uint64_t n, std::uint64_t seed) {
  index_permutation order(n, seed);
  std::vector<bool> exists(n);
  std::vector<std::uint64_t> some;
  for (std::uint64_t i = 0; i != n; i += some.size()) {
    some.resize(std::min<std::uint64_t>(n - i, 1000));
    order.numbers(i, some);
    for (std::uint64_t x : some) {
      if (x >= n || exists[x]) return false;
      exists[x] = true;
    }
  }
  return true;
}

/// How far counts that are to be alike are from it, in standard deviations.
double spread_of(const std::vector<double>& counts, double expected) {
  double chi_square = 0;
  for (double n : counts) chi_square += (n - expected) * (n - expected) / expected;
  const auto freedom = static_cast<double>(counts.size() - 1);
  return (chi_square - freedom) / std::sqrt(2 * freedom);
}

}  // namespace

TEST_CASE("each number comes once, at every size up to 5,000") {
  const std::uint64_t most = cases(5000);
  for (std::uint64_t n = 1; n <= most; ++n) {
    CAPTURE(n);
    REQUIRE(is_permutation_of(n, first_seed() + n));
  }
}

// tf.data's global shuffle gives one element twice at 2^16 + 1, and one never. SLUICE_TEST_BUDGET=large: up to 2^30, in some minutes.
TEST_CASE("each number comes once around each power of two") {
  const char* budget = std::getenv("SLUICE_TEST_BUDGET");
  const int most = budget && std::string_view(budget) == "large" ? 30 : cases(10) == 1 ? 12 : 19;
  for (int k = 1; k <= most; ++k)
    for (std::uint64_t n : {(std::uint64_t{1} << k) - 1, std::uint64_t{1} << k, (std::uint64_t{1} << k) + 1}) {
      CAPTURE(n);
      REQUIRE(is_permutation_of(n, first_seed() + n));
    }
}

TEST_CASE("several numbers are what each of them is alone") {
  for (std::uint64_t n = 1; n < 3000; n += n / 3 + 1) {
    index_permutation order(n, n);
    for (std::uint64_t first = 0; first < n; first += n / 5 + 1)
      for (std::uint64_t many : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{64}, std::uint64_t{65}, n - first}) {
        std::vector<std::uint64_t> together(std::min(many, n - first));
        order.numbers(first, together);
        for (std::size_t i = 0; i != together.size(); ++i) REQUIRE(together[i] == order[first + i]);
      }
  }
}

TEST_CASE("all orders of a few numbers come as often as others") {
  for (std::uint64_t n : {2, 3, 4, 5}) {
    std::size_t orders = 1;
    for (std::uint64_t k = 2; k <= n; ++k) orders *= k;
    constexpr double kEach = 1000;
    std::map<std::vector<std::uint64_t>, double> seen;
    for (std::uint64_t seed = 0; seed != orders * static_cast<std::uint64_t>(kEach); ++seed) {
      index_permutation order(n, mix(seed));
      std::vector<std::uint64_t> one;
      for (std::uint64_t i = 0; i != n; ++i) one.push_back(order[i]);
      ++seen[one];
    }
    CAPTURE(n);
    CHECK(seen.size() == orders);
    std::vector<double> counts;
    for (auto& [order, times] : seen) counts.push_back(times);
    CHECK(spread_of(counts, kEach) < 4);
  }
}

TEST_CASE("each place has each number as often as others") {
  constexpr double kEach = 100;
  for (std::uint64_t n : {6, 7, 8, 9, 16, 17, 33, 100, 257}) {
    for (std::uint64_t place : {std::uint64_t{0}, n / 2, n - 1}) {
      std::vector<double> counts(n);
      for (std::uint64_t seed = 0; seed != n * static_cast<std::uint64_t>(kEach); ++seed)
        ++counts[index_permutation(n, mix(seed + 1'000'000))[place]];
      CAPTURE(n, place);
      CHECK(spread_of(counts, kEach) < 4.5);
    }
  }
}

TEST_CASE("neighbours are as far from each other as any two, also in large permutations") {
  constexpr std::size_t kParts = 64;
  for (std::uint64_t n : {std::uint64_t{65'536}, std::uint64_t{65'537}, std::uint64_t{1'000'003},
                          (std::uint64_t{1} << 40) + 1, std::uint64_t{1} << 62}) {
    std::vector<double> counts(kParts);
    constexpr std::uint64_t kSeeds = 100, kPairs = 640;
    for (std::uint64_t seed = 0; seed != kSeeds; ++seed) {
      index_permutation order(n, mix(seed));
      for (std::uint64_t i = 0; i != kPairs; ++i) {
        const std::uint64_t distance = (order[i + 1] + n - order[i]) % n;
        const double part = static_cast<double>(distance) / static_cast<double>(n) * kParts;
        ++counts[std::min<std::size_t>(static_cast<std::size_t>(part), kParts - 1)];
      }
    }
    CAPTURE(n);
    CHECK(spread_of(counts, double{kSeeds} * kPairs / kParts) < 4.5);
  }
}

}  // namespace sluice::lib::index_permutation_test
