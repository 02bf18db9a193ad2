// SPDX-License-Identifier: Apache-2.0
// sluice/op/get_single_element.hpp
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "support/plan_texts.hpp"

namespace sluice::lib::get_single_element_test {
namespace {

using namespace test;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("get_single_element gives the only element, of every kind") {
  auto over = [](auto as) {
    using As = decltype(as);
    return conformance{.stage =
                           [](const auto& in) {
                             return concatenate(in | map(As::made), range(1) | map(As::made)) | take(1) |
                                    get_single_element() | map(As::number);
                           },
                       .expected = [](const int64s& in) { return in.empty() ? int64s{0} : int64s{in[0]}; },
                       .elements = As::kName};
  };
  conforms(over(as_text()));
  conforms(over(as_record()));
  conforms(over(as_tensor()));
  conforms(over(as_move_only()));
  conforms(over(as_counting()));
}

TEST_CASE("get_single_element prints as text, is read again, and counts as one") {
  round_trips(*(range(1) | get_single_element()).plan(), "range(1) | get_single_element");
}

}  // namespace sluice::lib::get_single_element_test
