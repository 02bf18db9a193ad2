// SPDX-License-Identifier: Apache-2.0
// An executor for tests of coro/ alone, which sees no runtime: a queue that the waiting thread drains.
#pragma once

#include <deque>
#include <stop_token>

#include "sluice/coro/sync_wait.hpp"

namespace sluice::lib {

class test_world final : public executor, public clock {
 public:
  test_world() {
    env.exec = this;
    env.time = this;
    env.stop = stop.get_token();
  }
  void post(std::coroutine_handle<> h) noexcept override {
    ++posted;
    ready.push_back(h);
  }
  bool on_worker() const noexcept override { return is_worker; }
  driven drive() override {
    if (!ready.empty()) {
      auto h = ready.front();
      ready.pop_front();
      h.resume();
      return driven::ran;
    }
    auto first = timers.begin();
    for (auto i = timers.begin(); i != timers.end(); ++i)
      if ((*i)->due < (*first)->due) first = i;
    if (first == timers.end()) return driven::stuck;
    timer_node* node = *first;
    timers.erase(first);
    moment = std::max(moment, node->due);
    node->fire(*node);
    return driven::ran;
  }
  std::string_view complaint() const noexcept override { return "the test world is stuck"; }
  time_point now() const noexcept override { return moment; }
  void arm(timer_node& node) noexcept override { timers.push_back(&node); }
  bool cancel(timer_node& node) noexcept override { return std::erase(timers, &node) > 0; }

  template <class T> T run(task<T> work) { return sync_wait(env, std::move(work)); }
  template <class T> auto result_of(task<T> work) { return sync_wait_result(env, std::move(work)); }

  int posted = 0;
  bool is_worker = false;  ///< is who runs now a worker that others wait for?
  std::deque<std::coroutine_handle<>> ready;
  std::deque<timer_node*> timers;
  time_point moment{};
  std::stop_source stop;
  environment env;
};

}  // namespace sluice::lib
