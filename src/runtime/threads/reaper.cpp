// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/reaper.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {
namespace {
constexpr std::chrono::seconds kPatience{10};  // longer than any known block of work or disk retry
}

void reaper::leave() noexcept {
  if (live_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  mutex_lock lock(mutex_);
  changed_.notify_all();
}

void reaper::watch(std::shared_ptr<run_context> run) {
  mutex_lock lock(mutex_);
  if (runs_.size() >= sweep_at_) {
    std::erase_if(runs_, [](auto& r) { return r.expired(); });
    sweep_at_ = std::max<std::size_t>(16, runs_.size() * 2);
  }
  runs_.push_back(std::move(run));
}

void reaper::stop_and_wait(executor& exec) {
  std::vector<std::weak_ptr<run_context>> runs;
  {
    mutex_lock lock(mutex_);
    runs.swap(runs_);
  }
  for (auto& weak : runs)
    if (auto run = weak.lock()) run->request_stop();
  // Streams that are left belong to a destroyed runtime from the end of this function on.
  auto orphan = [&runs] {
    for (auto& weak : runs)
      if (auto run = weak.lock()) run->is_homeless.store(true, std::memory_order_release);
  };
  executor::driven step = executor::driven::ran;
  while (live() > 0 && step == executor::driven::ran) step = exec.drive();
  if (live() > 0 && step == executor::driven::stuck)
    std::fprintf(stderr, "sluice: the simulated runtime ends while %zu tasks wait for ever\n", live());
  if (step == executor::driven::stuck) return orphan();
  mutex_lock lock(mutex_);
  while (!changed_.wait_for(lock.inner(), kPatience, [this] { return live() == 0; }))
    std::fprintf(stderr, "sluice: the runtime's end waits for %zu tasks; does a stream outlive its runtime?\n", live());
  lock.unlock();
  orphan();
}

}  // namespace sluice::lib
