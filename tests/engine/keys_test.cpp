// SPDX-License-Identifier: Apache-2.0
// sluice/engine/keys.hpp
#include "sluice/engine/keys.hpp"

#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::keys_test {
namespace {

using namespace test;
using int64 = std::int64_t;

enum class colour : std::int8_t { red = -1, green = 0, blue = 5 };
struct place {
  std::int16_t row = 0;
  std::string name = {};
  bool operator<(const place& o) const { return std::tie(row, name) < std::tie(o.row, o.name); }
};

/// Elements, each as its own key, come out once each and in order, with how often they were there; a key is found again by
/// a function that begins with it.
template <class K> void keys_are_in_order(std::vector<K> all) {
  std::map<K, int64> counted;
  for (const K& key : all) ++counted[key];
  auto by = [&all](int64 i) { return all[static_cast<std::size_t>(i)]; };
  auto begin = [&](const K& key) {
    auto first = counted.find(key);
    REQUIRE(first != counted.end());
    return static_cast<int64>(std::distance(counted.begin(), first)) * 100;
  };
  int64s expected;
  for (auto& [key, n] : counted) expected.push_back(static_cast<int64>(expected.size()) * 100 + n);
  auto count = [](int64& n, int64) { ++n; };
  CHECK(consume(range(static_cast<int64>(all.size())) | group_by_reducer(by, begin, count), {}).elements == expected);
}

}  // namespace

TEST_CASE("keys of every type come in their order, and are read back from their codes") {
  constexpr int64 kLeast = std::numeric_limits<int64>::min(), kMost = std::numeric_limits<int64>::max();
  keys_are_in_order<int64>({3, -1, 0, kMost, kLeast, -1, 255, 256, -256, 3, 1});
  keys_are_in_order<std::uint64_t>({3, ~std::uint64_t{0}, 0, std::uint64_t{1} << 63, 3, 256});
  keys_are_in_order<std::int8_t>({3, -128, 127, 0, -1, 3});
  keys_are_in_order<std::uint16_t>({3, 65535, 256, 255, 0});
  keys_are_in_order<char>({'a', 'Z', 'a', '\0'});
  keys_are_in_order<colour>({colour::blue, colour::red, colour::green, colour::red});
  const std::string zero(1, '\0'), zeros(2, '\0'), high = "\xff";
  const std::vector<std::string> texts = {
      "b",  "",   "a",   zero,        zeros,       "a" + zero, "a" + zero + "b",
      "ab", high, "a\1", zero + high, zero + "\1", "a",        "a long one that a string does not keep within itself"};
  keys_are_in_order<std::string>(texts);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (auto& a : texts)
    for (auto& b : texts) pairs.emplace_back(a, b);
  keys_are_in_order(pairs);
  keys_are_in_order<std::pair<bool, std::int32_t>>({{true, -1}, {false, 7}, {true, 3}, {false, -7}, {true, -1}});
  keys_are_in_order<std::tuple<std::string, int64, char>>(
      {{"a", -1, 'x'}, {"a", -2, 'y'}, {"", 9, 'z'}, {"a", -1, 'x'}});
  keys_are_in_order<std::array<std::int32_t, 2>>({{1, -1}, {-1, 1}, {1, -2}});
  keys_are_in_order<place>({{2, "b"}, {-2, "c"}, {2, "a"}, {2, "b"}});
}

}  // namespace sluice::lib::keys_test
