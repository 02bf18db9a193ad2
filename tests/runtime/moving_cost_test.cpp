// SPDX-License-Identifier: Apache-2.0
// runtime/sites/moving_cost.hpp, and the data that a channel weighs (runtime/sites/cost_estimate.hpp)
#include "runtime/sites/moving_cost.hpp"

#include <optional>

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
  const moving_cost cost = machine_moving_cost();
  CHECK(cost.hand_over_ns == moving_cost().hand_over_ns);
  CHECK((cost.byte_ns >= 0.02 && cost.byte_ns <= 0.5));
  CHECK((cost.owner_ns >= 5 && cost.owner_ns <= 500));
}

namespace {

int measurements = 0;
std::optional<moving_cost> succeeds_at_third() {
  return ++measurements < 3 ? std::nullopt : std::optional(moving_cost{.byte_ns = 0.1, .owner_ns = 7});
}
std::optional<moving_cost> never_succeeds() { return ++measurements, std::nullopt; }

}  // namespace

TEST_CASE("a machine that is too busy for a measurement is measured again, after longer and longer pauses") {
  const measured_moving_cost::time start{};
  measurements = 0;
  measured_moving_cost cost(succeeds_at_third);
  CHECK(cost.at(start).owner_ns == moving_cost().owner_ns);
  CHECK(cost.at(start + 4ms).owner_ns == moving_cost().owner_ns);  // too early
  CHECK(measurements == 1);
  CHECK(cost.at(start + 5ms).owner_ns == moving_cost().owner_ns);
  CHECK((measurements == 2 && !cost.is_final()));
  CHECK(cost.at(start + 14ms).owner_ns == moving_cost().owner_ns);
  CHECK(cost.at(start + 15ms).owner_ns == 7);
  CHECK((measurements == 3 && cost.is_final() && cost.at(start + 1h).byte_ns == 0.1));
  CHECK(measurements == 3);
}

TEST_CASE("a machine that stays busy is measured a few times only") {
  measurements = 0;
  measured_moving_cost cost(never_succeeds);
  for (int hour = 0; hour != 20; ++hour) cost.at(measured_moving_cost::time{} + hour * 1h);
  CHECK((measurements == measured_moving_cost::kAttempts && cost.is_final()));
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
