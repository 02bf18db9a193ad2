// SPDX-License-Identifier: Apache-2.0
// sluice/op/enumerate.hpp
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice::lib::enumerate_test {
namespace {

using namespace test;
using int64 = std::int64_t;

int64 folded(const std::pair<int64, int64>& p) { return p.first * 1000 + p.second; }

int64s numbered(const int64s& in, int64 start) {
  int64s out;
  for (int64 x : in) out.push_back(start++ * 1000 + x);
  return out;
}

}  // namespace

TEST_CASE("enumerate conforms") {
  for (int64 start : {0, 7})
    conforms({.stage = [start](const auto& in) { return in | enumerate({.start = start}) | map(folded); },
              .expected = [start](const int64s& in) { return numbered(in, start); },
              .before_error = [start](const int64s& in) { return numbered(in, start); }});
}

TEST_CASE("enumerate conforms for elements of every kind, and asks for no more than it needs") {
  conforms_for_elements(
      [](const auto& in) {
        using row = std::pair<int64, typename std::remove_cvref_t<decltype(in)>::value_type>;
        return in | enumerate() | map([](row r) { return std::move(r.second); });
      },
      {.expected = [](const int64s& in) { return in; },
       .before_error = [](const int64s& in) { return in; },
       .needs = one_each});
}

TEST_CASE("enumerate keeps elements that own memory, and counts on after the largest number") {
  auto names = range(3) | map([](int64 x) { return std::make_unique<std::string>(100, static_cast<char>('a' + x)); });
  auto first = names | enumerate({.start = std::numeric_limits<int64>::max()}) |
               map([](const std::pair<int64, std::unique_ptr<std::string>>& p) {
                 return p.first % 1000 * 1000 + (*p.second)[0];
               });
  CHECK(consume(first, {}).elements == int64s{807'000 + 'a', -808'000 + 'b', -807'000 + 'c'});
}

TEST_CASE("enumerate prints as text, and is read again") {
  round_trips(*(range(5) | enumerate()).plan(), "range(5) | enumerate");
  round_trips(*(range(5) | enumerate({.start = -3})).plan(), "range(5) | enumerate(start=-3)");
}

}  // namespace sluice::lib::enumerate_test
