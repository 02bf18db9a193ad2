// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/random_bits.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "sluice/base/hash.hpp"
#include "sluice/base/utf8.hpp"

namespace sluice::lib::random_test {

TEST_CASE("draws are the same for ever: checkpoints depend on them") {
  CHECK(mix(0) == 0xe220a8397b1dcdafu);  // SplitMix64's first output from state 0, as published
  CHECK(mix(0x9e3779b97f4a7c15u) == 0x6e789e6aa1b965f4u);
  CHECK(draw(7, 0, 1000) == draw(7, 0, 1000));
  CHECK(draw(7, 12345, 1) == 0);
}

TEST_CASE("draws are even over their range and independent between derived seeds") {
  constexpr std::uint64_t kSlots = 64, kDraws = 64'000;
  for (std::uint64_t seed : {0u, 1u, 7u}) {
    std::vector<double> hits(kSlots);
    std::uint64_t equal = 0;
    for (std::uint64_t i = 0; i != kDraws; ++i) {
      auto a = draw(seed, i, kSlots);
      ++hits[a];
      equal += a == draw(derive(seed, 1), i, kSlots);
    }
    double chi = 0, expected = static_cast<double>(kDraws) / kSlots;
    for (double h : hits) chi += (h - expected) * (h - expected) / expected;
    CHECK(chi < 63 + 5 * std::sqrt(2 * 63.0));  // five standard deviations of a chi² with 63 degrees
    CHECK(std::abs(static_cast<double>(equal) - expected) < 5 * std::sqrt(expected));
  }
}

TEST_CASE("the order of derivation matters") { CHECK(derive(derive(7, 1), 2) != derive(derive(7, 2), 1)); }

TEST_CASE("stable hashes distinguish texts and depend on the seed") {
  CHECK(stable_hash("range(5)") == stable_hash("range(5)"));
  CHECK(stable_hash("range(5)") != stable_hash("range(6)"));
  CHECK(stable_hash("", 1) != stable_hash("", 2));
  CHECK(stable_hash("ab") != stable_hash("ba"));
}

TEST_CASE("UTF-8 is recognised") {
  CHECK(is_utf8("größe €, 𝄞"));
  CHECK(is_utf8(""));
  for (auto bad : {"\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "a\x80"}) CHECK_FALSE(is_utf8(bad));
  // Wherever they stand in a text that is otherwise ASCII.
  bool good = true, bad = false;
  for (std::size_t size = 0; size != 140; ++size) {
    for (std::size_t at = 0; at <= size; ++at) {
      std::string text(size, 'x');
      good = good && is_utf8(std::string(text).insert(at, "𝄞"));
      bad =
          bad || is_utf8(std::string(text).insert(at, "\x80")) || is_utf8(std::string(text).insert(at, "\xf0\x9d\x84"));
    }
  }
  CHECK(good);
  CHECK_FALSE(bad);
}

}  // namespace sluice::lib::random_test
