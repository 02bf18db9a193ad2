// SPDX-License-Identifier: Apache-2.0
// runtime: the resources that runs share: worker threads, a clock, threads for blocking calls, a memory budget, the
// file back end.
//
//   runtime rt({.workers = 4, .memory_budget_bytes = 256 << 20});
//   auto n = sync_wait(rt, count_words("a.txt"));
//
//   simulation sim(seed);                     // the same interface, single-threaded and in virtual time
//   runtime rt(sim);
//
// A process usually has one runtime. Runs do not own threads, so thousands of them may share a runtime.
// Thread: every member may be called from any thread. The destructor stops all runs, waits for their tasks and joins
//         the threads; it must not run on a worker.
// Owns:   its threads, ledger and back ends. Streams of its runs may be destroyed after it, but no element may be
//         requested from them any more.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/coro/sync_wait.hpp"
#include "sluice/runtime/blocking.hpp"
#include "sluice/runtime/ledger.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

class reaper;
class run_starts;
class scheduler;
class simulation;

struct runtime_options {
  unsigned workers = 0;  ///< 0: the number of cores that the process may use; at most 1,024. A simulation decides
  /// 0: half of the memory that is available to this process (within its cgroup), at most 8 GiB.
  std::size_t memory_budget_bytes = 0;
  std::string io = {};  ///< "uring", "threads" or "auto"; empty: SLUICE_IO, else auto
  unsigned blocking_threads_max = 64;
  /// The time limit of an open, a page of a listing or a read of a file, which then fails with deadline_exceeded; 0: no
  /// limit. Reads of byte streams (a FIFO, standard input) have no limit.
  std::chrono::nanoseconds io_timeout{0};
  /// Called with each warning of a run's report, on any thread, also on several at the same time. It must not block.
  void (*on_warning)(std::string_view text) = nullptr;
  std::uint64_t seed = 0;  ///< for runs without a seed of their own; 0: iterate() draws one for each run
};

/// Base class of the file back ends; the runtime only owns one. The layer `io` derives the real and the simulated one.
class io_service {
 public:
  virtual ~io_service() = default;
  /// The name of the back end, and the reason for the choice if it is not the default one.
  virtual std::string description() const = 0;
};

/// Base class of objects that other layers keep in a runtime: the data that outlive a run (`store`), the transport of
/// messages (`io`). The runtime shares their ownership until it ends.
class runtime_part {
 public:
  virtual ~runtime_part() = default;
};

class runtime {
 public:
  runtime() : runtime(runtime_options()) {}
  explicit runtime(runtime_options options);
  /// Makes a runtime in a simulation, which must outlive it.
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
  sluice::lib::reaper& reaper() noexcept;
  /// The values that its runs share when they start (src/runtime/run_starts.hpp).
  run_starts& starts() noexcept;
  /// The simulation of this runtime; null for a real runtime.
  simulation* world() const noexcept { return world_; }
  /// The environment of tasks that belong to no run: the runtime's executor and clock, never stopped.
  environment& root() noexcept { return root_; }

  std::shared_ptr<run_context> new_run() { return new_run(run_options()); }
  std::shared_ptr<run_context> new_run(run_options options);

  /// Starts worker threads for runs that name them (iterate_options::pool); they end with the runtime. Blocking calls,
  /// timers, files and memory are shared with all other runs. Errors: invalid_argument for more than 1,024 workers;
  /// failed_precondition in a simulation, which has one thread.
  scheduler& add_pool(unsigned workers);

  /// The file back end, made by `make` at the first call.
  io_service& io(std::unique_ptr<io_service> (*make)(runtime&));
  /// The part with this key, made by `make` at the first call. `key`: the address of a variable of the layer.
  std::shared_ptr<runtime_part> part(const void* key, std::shared_ptr<runtime_part> (*make)(runtime&));

 private:
  struct threads;
  struct parts;

  runtime_options options_;
  simulation* world_ = nullptr;
  std::shared_ptr<memory_ledger> ledger_;
  parts* const parts_;  ///< the reaper, the threads and the file back end
  executor* exec_ = nullptr;
  clock* time_ = nullptr;
  blocking_service* blocking_ = nullptr;
  environment root_;
};

/// Runs a task on the runtime's workers and blocks until it is done (coro/sync_wait.hpp).
template <class T> T sync_wait(runtime& rt, task<T> work) { return sync_wait(rt.root(), std::move(work)); }

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::io_service;
using lib::runtime;
using lib::runtime_options;

}  // namespace sluice
