// SPDX-License-Identifier: Apache-2.0
// The values that the runs of a runtime share when they start, so that a short run needs no system call: a system call takes
// as long as opening two stages.
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

class run_starts {
 public:
  /// Returns a seed for a run that has none. Runs have different seeds, and so have the runs of two runtimes: a process
  /// that was forked builds its own runtime. `now`: makes the seeds if the system has no random number.
  std::uint64_t drawn_seed(time_point now) noexcept;
  /// Returns the CPU time that the process had used at some time between 100 µs before `now` and the present.
  duration cpu_time(time_point now) noexcept;

 private:
  std::atomic<std::uint64_t> base_{0};  // 0: not drawn yet
  std::atomic<std::uint64_t> drawn_{0};
  std::atomic<duration::rep> read_at_{INT64_MIN}, cpu_ns_{0};
};

/// The CPU time of the process.
duration process_cpu_time() noexcept;

}  // namespace sluice::lib
