// SPDX-License-Identifier: Apache-2.0
// sluice/op/enumerate.hpp
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::enumerate_test {
using namespace test;
using int64 = std::int64_t;

TEST_CASE("enumerate keeps elements that own memory, and counts on after the largest number") {
  auto names = range(3) | map([](int64 x) { return std::make_unique<std::string>(100, static_cast<char>('a' + x)); });
  auto first = names | enumerate({.start = std::numeric_limits<int64>::max()}) |
               map([](const std::pair<int64, std::unique_ptr<std::string>>& p) {
                 return p.first % 1000 * 1000 + (*p.second)[0];
               });
  CHECK(consume(first, {}).elements == int64s{807'000 + 'a', -808'000 + 'b', -807'000 + 'c'});
}

}  // namespace sluice::lib::enumerate_test
