// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "runners/row_run.hpp"

namespace sluice::lib::directly_test {

using namespace test;

TEST_CASE("rows hold on one worker") {
  runtime one({.workers = 1});
  every_row([&](const row& r) {
    return difference_of(r, [&](const node_ptr& plan) { return run_on(one, plan, {.elements_max = most_of(r)}); });
  });
}

}  // namespace sluice::lib::directly_test
