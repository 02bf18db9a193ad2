// SPDX-License-Identifier: Apache-2.0
#include "runtime/simulated/lane.hpp"

#include <utility>

#include "sluice/base/assert.hpp"

namespace sluice::lib {

lane::lane() : thread_([this] { work(); }) {}

lane::~lane() {
  SLUICE_ASSERT(state_ == state::idle, "a simulation ends while one of its cores computes");
  state_ = state::ended;
  {
    mutex_lock lock(mutex_);
    has_turn_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void lane::start(std::function<void()> job) {
  SLUICE_REQUIRES(is_idle(), "a lane has one job at a time");
  job_ = std::move(job);
  run_until_it_stops();
}

void lane::resume() {
  SLUICE_REQUIRES(is_paused(), "only a paused job is resumed");
  run_until_it_stops();
}

void lane::run_until_it_stops() {
  state_ = state::running;
  mutex_lock lock(mutex_);
  has_turn_ = true;
  changed_.notify_all();
  while (has_turn_) changed_.wait(lock.inner());
}

void lane::pause() {
  state_ = state::paused;
  mutex_lock lock(mutex_);
  has_turn_ = false;
  changed_.notify_all();
  while (!has_turn_) changed_.wait(lock.inner());
}

void lane::work() {
  for (;;) {
    {
      mutex_lock lock(mutex_);
      while (!has_turn_) changed_.wait(lock.inner());
    }
    if (state_ == state::ended) return;
    job_();
    job_ = nullptr;
    state_ = state::idle;
    {
      mutex_lock lock(mutex_);
      has_turn_ = false;
    }
    changed_.notify_all();
  }
}

}  // namespace sluice::lib
