// SPDX-License-Identifier: Apache-2.0
// runtime/sites/moving_cost.hpp, and the data that a channel weighs (runtime/sites/cost_estimate.hpp)
#include "runtime/sites/moving_cost.hpp"

#include <catch2/catch.hpp>

#include "runtime/sites/cost_estimate.hpp"

namespace sluice::lib::moving_cost_test {

using namespace std::chrono_literals;

TEST_CASE("moving work costs a hand-over, its bytes, and its elements that own memory") {
  const moving_cost cost{.hand_over_ns = 1000, .byte_ns = 0.5, .owner_ns = 20};
  CHECK(cost.of({}) == 1000ns);
  CHECK(cost.of({.bytes = 100}) == 1050ns);
  CHECK(cost.of({.bytes = 100, .owners = 10}) == 1250ns);
}

TEST_CASE("the measured cost is within the limits of machines") {
  const moving_cost& cost = machine_moving_cost();
  CHECK(cost.hand_over_ns == moving_cost().hand_over_ns);
  CHECK((cost.byte_ns >= 0.02 && cost.byte_ns <= 0.5));
  CHECK((cost.owner_ns >= 5 && cost.owner_ns <= 500));
  CHECK(&machine_moving_cost() == &cost);
}

/// Notes the data of the last question.
struct asked final : executor {
  void post(std::coroutine_handle<>) noexcept override {}
  bool worth_sharing(std::chrono::nanoseconds, const moved_data& data) noexcept override {
    moved = data;
    return answer;
  }
  moved_data moved{};
  bool answer = false;
};

TEST_CASE("a channel asks about one block: its bytes, and its elements that own memory") {
  asked exec;
  cost_estimate costs;
  costs.learn_pulled(1us, 1);
  costs.learn_computed(9us, 1);
  costs.learn_used(1us, 1);
  const cost_estimate::channel numbers{
      .element_bytes = 8, .block_bytes = 1 << 20, .block_elements = 1024, .block_time = 100us};
  costs.weigh(exec, numbers);
  CHECK((exec.moved.bytes == 80 && exec.moved.owners == 0));  // ten elements of 10 µs
  CHECK(costs.is_light());
  cost_estimate::channel texts = numbers;
  texts.owners = true;
  exec.answer = true;
  costs.weigh(exec, texts);
  CHECK((exec.moved.bytes == 80 && exec.moved.owners == 10));
  CHECK(!costs.is_light());
}

}  // namespace sluice::lib::moving_cost_test
