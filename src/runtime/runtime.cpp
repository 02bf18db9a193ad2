// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/runtime.hpp"

#include <sched.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/available_memory.hpp"
#include "runtime/run_starts.hpp"
#include "runtime/threads/blocking_pool.hpp"
#include "runtime/timers/timer_thread.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/runtime/reaper.hpp"
#include "sluice/runtime/scheduler.hpp"
#include "sluice/runtime/simulation.hpp"

namespace sluice::lib {
namespace {

// A server with a terabyte gains nothing from a terabyte of read-ahead.
constexpr std::size_t kDefaultBudgetBytesMax = std::size_t{8} << 30;
constexpr std::size_t kSimulatedBudgetBytes = kDefaultBudgetBytesMax;  // the same on every machine

constexpr unsigned kWorkersMax = 1024;

/// The number of cores that this process may use. std::thread::hardware_concurrency() ignores the affinity mask in some
/// versions of glibc.
unsigned usable_cores() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  const int cores = ::sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 0;
  return cores > 0 ? static_cast<unsigned>(cores) : std::max(1u, std::thread::hardware_concurrency());
}

/// `world`: null for a runtime with threads.
runtime_options settle(runtime_options o, const simulation* world) {
  if (o.workers > kWorkersMax)
    throw_status(invalid_argument_error("workers is at most " + std::to_string(kWorkersMax) + ", and is " +
                                        std::to_string(o.workers)));
  if (world) o.workers = std::max(1u, world->cores());
  if (o.workers == 0) o.workers = usable_cores();
  if (o.memory_budget_bytes == 0)
    o.memory_budget_bytes =
        world ? kSimulatedBudgetBytes : std::min(available_memory_bytes() / 2, kDefaultBudgetBytesMax);
  return o;
}

}  // namespace

/// Members are destroyed in reverse order: blocking calls and timers still post while they drain, so the workers end
/// last.
struct runtime::threads {
  explicit threads(const runtime_options& o)
      : workers(o.workers), blocking({.threads_max = o.blocking_threads_max, .idle_max = std::chrono::seconds(5)}) {}
  scheduler workers;
  timer_thread timers;
  blocking_pool blocking;
  mutex pools_mutex;
  std::vector<std::unique_ptr<scheduler>> pools ABSL_GUARDED_BY(pools_mutex);  ///< those of add_pool()

  void join() {
    workers.join();
    mutex_lock lock(pools_mutex);
    for (auto& pool : pools) pool->join();
  }
};

struct runtime::parts {
  sluice::lib::reaper reaper;
  run_starts starts;
  std::optional<runtime::threads> threads;  ///< empty for a simulation
  mutex io_mutex;
  std::unique_ptr<io_service> io ABSL_GUARDED_BY(io_mutex);  ///< guarded by io_mutex
  mutex others_mutex;
  std::vector<std::pair<const void*, std::shared_ptr<runtime_part>>> others ABSL_GUARDED_BY(others_mutex);
};

runtime::runtime(runtime_options options)
    : options_(settle(std::move(options), nullptr)),
      ledger_(std::make_shared<memory_ledger>(options_.memory_budget_bytes)),
      parts_(new parts) {
  try {
    parts_->threads.emplace(options_);
  } catch (...) {
    delete parts_;
    throw;
  }
  exec_ = root_.exec = &parts_->threads->workers;
  time_ = root_.time = &parts_->threads->timers;
  blocking_ = &parts_->threads->blocking;
}

runtime::runtime(simulation& world, runtime_options options)
    : options_(settle(std::move(options), &world)),
      world_(&world),
      ledger_(std::make_shared<memory_ledger>(options_.memory_budget_bytes)),
      parts_(new parts) {
  exec_ = root_.exec = &world;
  time_ = root_.time = &world;
  blocking_ = &world;
}

runtime::~runtime() {
  parts_->reaper.stop_and_wait(*exec_);
  // Every run has ended, but a worker may still be returning from a call into the back end whose completion another
  // worker has already seen. So the workers are joined first, and then no thread is inside the back end.
  if (parts_->threads) parts_->threads->join();
  parts_->io.reset();
  parts_->threads.reset();
  delete parts_;
}

reaper& runtime::reaper() noexcept { return parts_->reaper; }
run_starts& runtime::starts() noexcept { return parts_->starts; }

std::shared_ptr<run_context> runtime::new_run(run_options options) {
  auto run = std::make_shared<run_context>(*this, options);
  parts_->reaper.watch(run);
  return run;
}

scheduler& runtime::add_pool(unsigned workers) {
  if (!parts_->threads)
    throw_status(failed_precondition_error("add_pool: a simulation has one thread, and no pools of workers"));
  if (workers == 0 || workers > kWorkersMax)
    throw_status(invalid_argument_error("add_pool: a pool has 1 to " + std::to_string(kWorkersMax) +
                                        " workers, and not " + std::to_string(workers)));
  auto pool = std::make_unique<scheduler>(workers);
  mutex_lock lock(parts_->threads->pools_mutex);
  return *parts_->threads->pools.emplace_back(std::move(pool));
}

io_service& runtime::io(std::unique_ptr<io_service> (*make)(runtime&)) {
  mutex_lock lock(parts_->io_mutex);
  if (!parts_->io) parts_->io = make(*this);
  return *parts_->io;
}

std::shared_ptr<runtime_part> runtime::part(const void* key, std::shared_ptr<runtime_part> (*make)(runtime&)) {
  mutex_lock lock(parts_->others_mutex);
  for (const auto& [known, part] : parts_->others)
    if (known == key) return part;
  return parts_->others.emplace_back(key, make(*this)).second;
}

}  // namespace sluice::lib
