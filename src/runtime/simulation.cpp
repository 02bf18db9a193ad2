// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/simulation.hpp"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "coro/trace_log.hpp"
#include "runtime/simulated/cores.hpp"
#include "runtime/sites/moving_cost.hpp"
#include "runtime/timers/timer_heap.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/base/random_bits.hpp"

namespace sluice::lib {

/// A blocking call that waits for its virtual time, and then runs here.
struct simulation::delayed_call : timer_node {
  delayed_call(simulation& w, blocking_call& c) noexcept : world(w), call(c) {}
  simulation& world;
  blocking_call& call;
  static void on_due(timer_node& node) noexcept {
    std::unique_ptr<delayed_call> me(static_cast<delayed_call*>(&node));
    me->world.run(me->call);
  }
};

simulation::simulation(std::uint64_t seed, simulation_options options)
    : seed_(seed),
      timers_(std::make_unique<timer_heap>()),
      thread_(std::this_thread::get_id()),
      cores_(options.cores ? std::make_unique<simulated_cores>(options.cores) : nullptr) {
  constexpr unsigned kCoresMax = 1024;
  if (options.cores > kCoresMax)
    throw_status(invalid_argument_error(
        absl::StrFormat("a simulation has at most %d cores, and cores is %d", kCoresMax, options.cores)));
  env_.exec = this;
  env_.time = this;
}

simulation::~simulation() {
  while (cores_ && cores_->next_paused().count) drive();
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
  SLUICE_ASSERT(std::this_thread::get_id() == (cores_ && cores_->is_running() ? cores_->current_thread() : thread_),
                "a simulation belongs to one thread");
}

void simulation::post(std::coroutine_handle<> h) noexcept {
  check_thread();
  ready_.push_back(h);
}

void simulation::post_later(std::coroutine_handle<> h) noexcept {
  if (!cores_) return post(h);
  check_thread();
  later_.push_back(h);
}

unsigned simulation::cores() const noexcept { return cores_ ? cores_->size() : 0; }

bool simulation::on_worker() const noexcept { return cores_ ? cores_->is_on_core() : inside_; }

bool simulation::worth_sharing(std::chrono::nanoseconds took, const moved_data& moved) noexcept {
  if (sharing_) return sharing_();
  if (!cores_) return random(2) == 0;
  return cores_->size() > 1 && moving_cost().of(moved) < took;
}

void simulation::spend(duration work) noexcept {
  spent_ += work;
  const time_point until = now_ + work;
  if (!cores_ || !cores_->is_running()) {
    now_ = until;
    return;
  }
  const bool others_can_start = cores_->has_idle() && !(ready_.empty() && later_.empty());
  const bool something_is_due = !timers_->empty() && timers_->next_due() <= until;
  if (!others_can_start && !something_is_due && cores_->next_paused().at > until) now_ = until;
  else cores_->pause_until(until);
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
  auto* delayed = new delayed_call(*this, call);  // owned by the heap until it is due
  delayed->due = now_ + (blocking_delay_ ? blocking_delay_() : duration(0));
  delayed->fire = &delayed_call::on_due;
  arm(*delayed);
}

void simulation::run(blocking_call& call) {
  if (cores_) cores_->run(call);
  else call.run(call);
}

std::coroutine_handle<> simulation::draw_from(handles& ready) {
  std::uint64_t choice = random(ready.size());
  note(choice << 32 | ready.size());
  std::coroutine_handle<> h = ready[choice];
  ready[choice] = ready.back();
  ready.pop_back();
  return h;
}

void simulation::fire_next_timer() {
  now_ = std::max(now_, timers_->next_due());
  timer_node* node = timers_->pop();
  note(~std::uint64_t{0});
  node->fire(*node);
}

executor::driven simulation::drive() {
  check_thread();
  if (cores_) return drive_cores();
  if (ready_.empty() && timers_->empty()) return stuck();
  if (ready_.empty()) {
    fire_next_timer();
    return driven::ran;
  }
  std::coroutine_handle<> h = draw_from(ready_);
  inside_ = true;
  if (tracing()) trace_begin_turn("simulation", 0, now_);
  h.resume();
  if (tracing()) trace_end_turn(now_);
  inside_ = false;
  return driven::ran;
}

executor::driven simulation::drive_cores() {
  handles& from = ready_.empty() ? later_ : ready_;
  if (cores_->has_idle() && !from.empty()) {
    cores_->run(draw_from(from), *this);
    return driven::ran;
  }
  const simulated_cores::next paused = cores_->next_paused();
  const time_point timer = timers_->empty() ? simulated_cores::kNever : timers_->next_due();
  const time_point at = std::min(paused.at, timer);
  if (at == simulated_cores::kNever) return stuck();
  const std::size_t cores = paused.at == at ? paused.count : 0, timers = timer == at ? 1 : 0;
  const std::uint64_t choice = cores + timers > 1 ? random(cores + timers) : 0;
  if (choice == cores) {
    fire_next_timer();
    return driven::ran;
  }
  now_ = std::max(now_, at);
  note(choice << 32 | cores);
  cores_->resume(choice);
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
