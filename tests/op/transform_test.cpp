// SPDX-License-Identifier: Apache-2.0
// sluice/op/transform.hpp
#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"

namespace sluice::lib::transform_test {
namespace {

using namespace test;
using int64 = std::int64_t;

stream<int64> early(stream<int64> in) {
  int left = 3;
  while (auto x = co_await in.next()) {
    int64 element = *x;
    co_yield element;
    if (--left == 0) break;
  }
}

stream<int64> throwing(stream<int64> in) {
  while (auto x = co_await in.next()) {
    int64 element = *x;
    if (element == 4) throw std::runtime_error("four is not a number I know");
    co_yield element;
  }
}

}  // namespace

TEST_CASE("a stage may end before its input") {
  conforms({.stage = [](const auto& in) { return in | transform(early); },
            .expected =
                [](const int64s& in) {
                  return int64s(in.begin(),
                                in.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(3, in.size())));
                }});
}

TEST_CASE("an exception of a stage follows the elements that it yielded, with its stage") {
  consumed got = consume(range(10) | transform(throwing), {});
  CHECK(got.elements == int64s{0, 1, 2, 3});
  CHECK_THAT(got.why.to_string(), Catch::Contains("four is not") && Catch::Contains("transform"));
}

}  // namespace sluice::lib::transform_test
