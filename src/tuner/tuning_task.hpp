// SPDX-License-Identifier: Apache-2.0
// The task that tunes a run: it sleeps on the run's clock, looks at the counters on a worker, and sets knobs.
//
//   std::shared_ptr<tuning> t = start_tuning(context, root, std::move(policy), cpu_time);
//   t->report();
//
// It ends with the run: a stop of the run ends its sleep at once. While the run makes no progress, it looks less and
// less often; in a simulation it ends after a long time without progress, so that a deadlock is detected.
// Thread: report() on any thread.
#pragma once

#include <functional>
#include <memory>

#include "sluice/base/mutex.hpp"
#include "sluice/coro/stream_base.hpp"
#include "sluice/runtime/run_context.hpp"
#include "tuner/policy.hpp"

namespace sluice::lib {

class tuning {
 public:
  /// `computed`: returns the CPU time since the run's beginning.
  tuning(std::unique_ptr<tuning_policy> policy, std::function<duration()> computed, duration first);
  tuning_report report() const;

  /// Looks once, and sets knobs. Returns the time until the next look; 0: there is none.
  duration look(run_context& run, const run_base& root);

 private:
  mutable mutex mutex_;
  const std::unique_ptr<tuning_policy> policy_ ABSL_PT_GUARDED_BY(mutex_);
  const std::function<duration()> computed_;
  const duration first_;
  bool has_too_many_stages_ ABSL_GUARDED_BY(mutex_) = false;
  std::uint64_t progress_ = 0;  ///< as is the next, used by the task only
  int idle_ = 0;
};

/// Starts the task. `root` is kept alive until the task ends.
std::shared_ptr<tuning> start_tuning(std::shared_ptr<run_context> run, std::shared_ptr<run_base> root,
                                     std::unique_ptr<tuning_policy> policy, std::function<duration()> computed,
                                     duration first);

}  // namespace sluice::lib
