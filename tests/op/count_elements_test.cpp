// SPDX-License-Identifier: Apache-2.0
// sluice/op/count_elements.hpp
#include <cstdint>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "verbs/count_elements_model.hpp"

namespace sluice::lib::count_elements_test {
using namespace test;
using namespace count_elements_case;
using int64 = std::int64_t;

TEST_CASE("count_elements builds no element that can be skipped, and reports errors of those that it builds") {
  auto never = [](int64) -> int64 { throw_status(data_loss_error("made")); };
  CHECK(consume(range(1'000'000'000'000) | map(never) | count_elements(), {}).elements == int64s{1'000'000'000'000});
  auto bad = range(10) | map(never) | filter(expr("it > 0")) | count_elements();
  CHECK(consume(bad, {}).why.code() == status_code::data_loss);
}

}  // namespace sluice::lib::count_elements_test
