// SPDX-License-Identifier: Apache-2.0
// What pipelines run on: workers, a clock, threads for blocking calls, a memory budget, files.
//
//   runtime rt({.workers = 4, .memory_budget_bytes = 256 << 20});
//   auto n = sync_wait(rt, count_words("a.txt"));
//
//   simulation sim(seed);                     // the same, single-threaded, in virtual time
//   runtime rt(sim);
//
// Thread: all members from any thread. The destructor stops all runs, waits for their tasks and joins every thread;
// it must not run on a worker. Streams of its runs may be dropped later, but not asked again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/coro/sync_wait.hpp"
#include "sluice/runtime/blocking.hpp"
#include "sluice/runtime/ledger.hpp"
#include "sluice/runtime/reaper.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

class simulation;

struct runtime_options {
  unsigned workers = 0;  ///< 0: as many as the process may use cores; at most 1,024
  /// 0: half of what is available to this process (cgroup included), at most 8 GiB.
  std::size_t memory_budget_bytes = 0;
  std::string io = {};  ///< "uring", "threads" or "auto"; empty: SLUICE_IO, else auto
  unsigned blocking_threads_max = 64;
  /// How long an open, a page of a listing or a read of a file may take before it fails with deadline_exceeded; 0: for
  /// ever. A stream (a FIFO, standard input) is waited for as long as its writer takes.
  std::chrono::nanoseconds io_timeout{0};
  /// Is given each warning of a run's report when it arises, on the thread that asked for a checkpoint or started from one.
  void (*on_warning)(std::string_view text) = nullptr;
  std::uint64_t seed = 0;  ///< of runs that name none
};

/// The file back end, as the runtime sees it: something to hold and to name. io/ derives the real and the simulated.
class io_service {
 public:
  virtual ~io_service() = default;
  /// The back end, and why it was chosen where that may surprise.
  virtual std::string description() const = 0;
};

class runtime {
 public:
  runtime() : runtime(runtime_options()) {}
  explicit runtime(runtime_options options);
  /// Over a simulation, which must outlive it.
  explicit runtime(simulation& world, runtime_options options = {});
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  ~runtime();

  const runtime_options& options() const noexcept { return options_; }
  unsigned workers() const noexcept { return options_.workers; }
  executor& exec() noexcept { return *exec_; }
  clock& time() noexcept { return *time_; }
  blocking_service& blocking_calls() noexcept { return *blocking_; }
  memory_ledger& ledger() noexcept { return *ledger_; }
  const std::shared_ptr<memory_ledger>& shared_ledger() const noexcept { return ledger_; }
  sluice::lib::reaper& reaper() noexcept { return reaper_; }
  /// The simulation it stands on, or null.
  simulation* world() const noexcept { return world_; }
  /// For tasks that belong to no run: the runtime's executor and clock, never stopped.
  environment& root() noexcept { return root_; }

  std::shared_ptr<run_context> new_run() { return new_run(run_options()); }
  std::shared_ptr<run_context> new_run(run_options options);

  /// The file back end; `make` makes it when it is first asked for.
  io_service& io(std::unique_ptr<io_service> (*make)(runtime&));

 private:
  struct threads;

  runtime_options options_;
  simulation* world_ = nullptr;
  std::shared_ptr<memory_ledger> ledger_;
  sluice::lib::reaper reaper_;
  std::unique_ptr<threads> threads_;  ///< null over a simulation
  executor* exec_ = nullptr;
  clock* time_ = nullptr;
  blocking_service* blocking_ = nullptr;
  environment root_;
  std::mutex io_mutex_;
  std::unique_ptr<io_service> io_;  ///< guarded by io_mutex_
};

/// Runs a task on the runtime's workers and blocks until it is done (coro/sync_wait.hpp).
template <class T> T sync_wait(runtime& rt, task<T> work) { return sync_wait(rt.root(), std::move(work)); }

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::io_service;
using lib::runtime;
using lib::runtime_options;

}  // namespace sluice
