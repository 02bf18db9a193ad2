// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/simulation.hpp"

#include "absl/strings/str_format.h"
#include "runtime/timers/timer_heap.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/base/random_bits.hpp"

namespace sluice::lib {

/// A blocking call that waits for its virtual time, and then runs here.
struct simulation::delayed_call : timer_node {
  explicit delayed_call(blocking_call& c) noexcept : call(&c) {}
  blocking_call* call;
  static void on_due(timer_node& node) noexcept {
    std::unique_ptr<delayed_call> me(static_cast<delayed_call*>(&node));
    me->call->run(*me->call);
  }
};

simulation::simulation(std::uint64_t seed)
    : seed_(seed), timers_(std::make_unique<timer_heap>()), thread_(std::this_thread::get_id()) {
  env_.exec = this;
  env_.time = this;
}

simulation::~simulation() {
  while (!timers_->empty()) {  // calls whose results are no longer needed
    timer_node* node = timers_->pop();
    if (node->fire == &delayed_call::on_due) delete static_cast<delayed_call*>(node);
  }
}

std::uint64_t simulation::random(std::uint64_t below) noexcept { return draw(seed_, drawn_++, below); }
bool simulation::chance(double probability) noexcept {
  constexpr std::uint64_t kScale = std::uint64_t{1} << 53;  // what a double can hold exactly
  return static_cast<double>(random(kScale)) < probability * static_cast<double>(kScale);
}

void simulation::note(std::uint64_t choice) noexcept {
  ++steps_;
  trace_ = mix(trace_ ^ choice) + static_cast<std::uint64_t>(now_.time_since_epoch().count());
}

void simulation::check_thread() const noexcept {
  SLUICE_ASSERT(std::this_thread::get_id() == thread_, "a simulation belongs to one thread");
}

void simulation::post(std::coroutine_handle<> h) noexcept {
  check_thread();
  ready_.push_back(h);
}

void simulation::arm(timer_node& node) noexcept {
  check_thread();
  SLUICE_REQUIRES(node.fire, "a timer calls nothing");
  timers_->push(node);
}

bool simulation::cancel(timer_node& node) noexcept {
  check_thread();
  return timers_->erase(node);
}

void simulation::submit(blocking_call& call) {
  auto* delayed = new delayed_call(call);  // owned by the heap until it is due
  delayed->due = now_ + (blocking_delay_ ? blocking_delay_() : duration(0));
  delayed->fire = &delayed_call::on_due;
  arm(*delayed);
}

executor::driven simulation::drive() {
  check_thread();
  if (ready_.empty() && timers_->empty()) return stuck();
  if (ready_.empty()) {
    now_ = std::max(now_, timers_->next_due());
    timer_node* node = timers_->pop();
    note(~std::uint64_t{0});
    node->fire(*node);
    return driven::ran;
  }
  std::uint64_t choice = random(ready_.size());
  note(choice << 32 | ready_.size());
  std::coroutine_handle<> h = ready_[choice];
  ready_[choice] = ready_.back();
  ready_.pop_back();
  inside_ = true;
  h.resume();
  inside_ = false;
  return driven::ran;
}

executor::driven simulation::stuck() {
  complaint_ = absl::StrFormat(
      "the simulation with seed %d is stuck at %.6f s after %d steps: nothing is ready, no timer is armed, and the "
      "task "
      "that is waited for has not ended",
      seed_, std::chrono::duration<double>(elapsed()).count(), steps_);
  return driven::stuck;
}

}  // namespace sluice::lib
