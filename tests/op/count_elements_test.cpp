// SPDX-License-Identifier: Apache-2.0
// sluice/op/count_elements.hpp
#include <atomic>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "verbs/count_elements_model.hpp"

namespace sluice::lib::count_elements_test {
namespace {

using namespace test;
using namespace count_elements_case;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("count_elements conforms for elements of every kind") {
  auto over = [](auto as) {
    using As = decltype(as);
    return conformance{.stage = [](const auto& in) { return in | map(As::made) | count_elements(); },
                       .expected = counted,
                       .elements = As::kName};
  };
  conforms({.stage = [](const auto& in) { return in | count_elements(); }, .expected = counted});
  conforms(over(as_text()));
  conforms(over(as_record()));
  conforms(over(as_move_only()));
  conforms(over(as_counting()));
}

TEST_CASE("count_elements builds no element that can be skipped, and reports errors of those that it builds") {
  auto never = [](int64) -> int64 { throw_status(data_loss_error("made")); };
  CHECK(consume(range(1'000'000'000'000) | map(never) | count_elements(), {}).elements == int64s{1'000'000'000'000});
  auto bad = range(10) | map(never) | filter(expr("it > 0")) | count_elements();
  CHECK(consume(bad, {}).why.code() == status_code::data_loss);
}

TEST_CASE("count_elements prints as text, is read again, and refuses what never ends") {
  round_trips(*(range(5) | count_elements()).plan(), "range(5) | count_elements");
}

}  // namespace sluice::lib::count_elements_test
