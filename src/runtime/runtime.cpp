// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/runtime.hpp"

#include <algorithm>
#include <thread>

#include "runtime/available_memory.hpp"
#include "runtime/blocking_pool.hpp"
#include "runtime/timer_thread.hpp"
#include "sluice/runtime/scheduler.hpp"
#include "sluice/runtime/simulation.hpp"

namespace sluice::lib {
namespace {

// A server with a terabyte gains nothing from a terabyte of read-ahead.
constexpr std::size_t kDefaultBudgetBytesMax = std::size_t{8} << 30;
constexpr std::size_t kSimulatedBudgetBytes = kDefaultBudgetBytesMax;  // the same on every machine

constexpr unsigned kWorkersMax = 1024;

runtime_options settle(runtime_options o, bool simulated) {
  if (o.workers > kWorkersMax)
    throw_status(invalid_argument_error("workers is at most " + std::to_string(kWorkersMax) + ", and is " +
                                        std::to_string(o.workers)));
  if (simulated) o.workers = 1;
  if (o.workers == 0) o.workers = std::max(1u, std::thread::hardware_concurrency());  // honours the affinity mask
  if (o.memory_budget_bytes == 0)
    o.memory_budget_bytes =
        simulated ? kSimulatedBudgetBytes : std::min(available_memory_bytes() / 2, kDefaultBudgetBytesMax);
  return o;
}

}  // namespace

/// Members end in reverse: blocking calls and timers still post while they drain, so the workers leave last.
struct runtime::threads {
  explicit threads(const runtime_options& o)
      : workers(o.workers), blocking({.threads_max = o.blocking_threads_max, .idle_max = std::chrono::seconds(5)}) {}
  scheduler workers;
  timer_thread timers;
  blocking_pool blocking;
};

runtime::runtime(runtime_options options)
    : options_(settle(std::move(options), false)),
      ledger_(std::make_shared<memory_ledger>(options_.memory_budget_bytes)),
      threads_(std::make_unique<threads>(options_)) {
  exec_ = root_.exec = &threads_->workers;
  time_ = root_.time = &threads_->timers;
  blocking_ = &threads_->blocking;
}

runtime::runtime(simulation& world, runtime_options options)
    : options_(settle(std::move(options), true)),
      world_(&world),
      ledger_(std::make_shared<memory_ledger>(options_.memory_budget_bytes)) {
  exec_ = root_.exec = &world;
  time_ = root_.time = &world;
  blocking_ = &world;
}

runtime::~runtime() {
  reaper_.stop_and_wait(*exec_);
  // Every run is over, but a worker may still be on its way out of a call into the back end that another one has already
  // seen completed. So the workers go first, and then nobody is inside.
  if (threads_) threads_->workers.join();
  io_.reset();
  threads_.reset();
}

std::shared_ptr<run_context> runtime::new_run(run_options options) {
  auto run = std::make_shared<run_context>(*this, options);
  reaper_.watch(run);
  return run;
}

io_service& runtime::io(std::unique_ptr<io_service> (*make)(runtime&)) {
  std::lock_guard lock(io_mutex_);
  if (!io_) io_ = make(*this);
  return *io_;
}

}  // namespace sluice::lib
