// SPDX-License-Identifier: Apache-2.0
// The stages of a run as a graph of tasks: which of them run one after the other, and how much of the run's time each
// takes.
//
// Stages without a channel between them run in one task. A channel that works ahead begins another task upstream of it:
// its pump. A parallel stage has further tasks, which compute several blocks at once. The utilization of a task is the
// share of the run's time in which it works or waits for something outside of the run. The task with utilization 1
// limits the run; all others wait for it.
// Thread: none; one caller.
#pragma once

#include <cstddef>
#include <vector>

#include "sluice/profile/verdict.hpp"

namespace sluice::lib {

/// The task that is used most, and what takes the most time in it.
struct busiest_task {
  double utilization = 0;
  const site_report* stage = nullptr;  ///< null: there is no task
  limit_cause cause = limit_cause::none;
};

class stage_flow {
 public:
  /// `sites`: as in run_report::sites; they outlive this object. `elapsed`: the time of the run.
  stage_flow(std::vector<site_report>& sites, duration elapsed, unsigned workers);

  /// Sets the three shares of each site.
  void set_shares();
  const busiest_task& busiest() const { return busiest_; }
  /// The stage with a channel whose two sides both wait for it the longest; null: none waits on both sides.
  const site_report* small_channel() const;
  /// The stage whose task ahead has waited longest for this reason, if that is at least `share_min` of the time.
  const site_report* longest_wait(wait_reason why, double share_min) const;
  /// The stage that computes most.
  const site_report* most_computing() const;

 private:
  using index = std::size_t;
  struct facts {
    bool works_ahead = false;  ///< a channel is upstream of the stage, in use
    bool is_known = false;     ///< its task is known
    double lanes = 1;          ///< the number of tasks like its own: those of a parallel interleave's inner plans
    double inline_share = 0;   ///< the share of the time that its consumer needs to get its elements: of the stage, and
                               ///< of what runs in the same task
  };

  double share(duration t) const { return elapsed_ > 0 ? static_cast<double>(t.count()) / elapsed_ : 0; }
  static duration waited(const site_report& s, wait_reason r) {
    return s.waits_by_reason[static_cast<std::size_t>(r)].took;
  }
  /// Its own work in the task of its consumer.
  double own(const site_report& s) const { return share(s.busy - s.in_tasks); }
  /// Its waits for files, for the pace of the plan, and for threads.
  double outside(const site_report& s) const;
  /// Its waits for a thread of the call pool; 0 if these are waits of its parallel tasks.
  double for_threads(const site_report& s) const;
  void set_inline_shares();
  /// The sum of the inline shares of its inputs.
  double upstream_share(index i) const;
  /// Enters the stages of one task: `first`, and those upstream of them to the next channels.
  void enter_task(const std::vector<index>& first, double lanes);
  std::vector<index> task_of(const std::vector<index>& first, double lanes);
  void enter_parallel(index i);
  /// The number of blocks or calls of a parallel stage at the same time, and of the inputs that it reads at once.
  double parallelism(const site_report& s) const;

  std::vector<site_report>& sites_;
  const std::vector<std::vector<index>> inputs_;  ///< by stage
  const double elapsed_;
  const unsigned workers_;
  std::vector<facts> facts_;
  std::vector<index> ahead_;  ///< stages whose task ahead is not entered yet; the last one is the next
  busiest_task busiest_;
};

}  // namespace sluice::lib
