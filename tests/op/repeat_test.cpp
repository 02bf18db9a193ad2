// SPDX-License-Identifier: Apache-2.0
// sluice/op/repeat.hpp
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice {
namespace {

using namespace test;
using int64 = std::int64_t;

int64s repeated(const int64s& in, int times) {
  int64s out;
  while (times--) out.insert(out.end(), in.begin(), in.end());
  return out;
}

}  // namespace

TEST_CASE("repeat conforms") {
  for (int times : {0, 1, 3})
    conforms({.stage = [times](const auto& in) { return in | repeat(times); },
              .expected = [times](const int64s& in) { return repeated(in, times); }});
}

TEST_CASE("an error of the first epoch comes after its elements") {
  conforms({.stage = [](const auto& in) { return in | repeat(2); },
            .expected = [](const int64s& in) { return repeated(in, 2); },
            .before_error = [](const int64s& in) { return in; }});
}

TEST_CASE("repeat for ever goes on until nobody asks, and ends where an epoch gives nothing") {
  CHECK(consume(range(3) | repeat() | take(8), {}).elements == int64s{0, 1, 2, 0, 1, 2, 0, 1});
  CHECK(consume(range(0) | repeat(), {}).elements.empty());
  consumption how;
  how.skip = 1'000'001;
  how.elements_max = 2;
  CHECK(consume(range(3) | repeat(), how).elements == int64s{2, 0});
}

TEST_CASE("a shuffle below a repeat draws anew in each epoch, unless it is told not to") {
  auto of_epoch = [](const int64s& all, int e) { return int64s(all.begin() + e * 20, all.begin() + (e + 1) * 20); };
  int64s anew = consume(range(20) | shuffle(20, {.seed = 1}) | repeat(3), {}).elements;
  REQUIRE(anew.size() == 60);
  CHECK(of_epoch(anew, 0) != of_epoch(anew, 1));
  CHECK(of_epoch(anew, 1) != of_epoch(anew, 2));
  int64s same =
      consume(range(20) | shuffle(20, {.seed = 1, .reshuffle_each_iteration = false}) | repeat(3), {}).elements;
  REQUIRE(same.size() == 60);
  CHECK(of_epoch(same, 0) == of_epoch(same, 1));
}

TEST_CASE("repeat prints as text, and is read again") {
  round_trips(*(range(5) | repeat(3)).plan(), "range(5) | repeat(3)");
  round_trips(*(range(5) | repeat()).plan(), "range(5) | repeat");
}

}  // namespace sluice
