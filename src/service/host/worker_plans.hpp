// SPDX-License-Identifier: Apache-2.0
// worker_plans: the plans that a worker runs, by the ids of their datasets.
//
//   auto finding = plans.find(id);                          // asks the dispatcher at the first use
//   result<std::shared_ptr<const dataset_plan>> p = co_await finding;
//   auto making = (*p)->plan_of(request, rt);               // the plan of a split or shard, and its draws
//
// Rules:  a plan runs as the rules of its consumer rewrite it (read_request::rules). The splits share their rewritten forms.
// Errors: those of the dispatcher and of reading the plan; failed_precondition: the plan names a function that this program
//         does not have, or its elements have another type here; invalid_argument: the split is none of this plan.
// Thread: any.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "service/client/service_link.hpp"
#include "service/host/split_forms.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/splits/split_plan.hpp"

namespace sluice::lib {

class runtime;

/// A plan as written, and the form of it that runs.
struct plan_forms {
  node_ptr written, runs;
};

/// A plan to run, and the numbers that its draws depend on.
struct split_run {
  plan_forms plan;
  std::uint64_t seed = 0, epoch = 0;
  /// Yields the last element before the split, if bad elements may be dropped, and the plan makes the elements before the
  /// split again: what is dropped up to there belongs to the splits before. Otherwise null.
  plan_forms before = {};
};

class dataset_plan {
 public:
  /// Errors: see above.
  explicit dataset_plan(dataset_info info);
  task<result<split_run>> plan_of(read_request request, runtime& rt) const;
  /// The number of plans that were optimized: not one for each split.
  std::size_t optimized() const { return forms_.optimized(); }

 private:
  task<result<node_ptr>> shard_of(read_request request, runtime& rt) const;
  result<split_run> split_of(const read_request& request, const optimize_options& o) const;

  /// The cut of the plan, made at the first split. Errors: throws those of split_plan.
  std::shared_ptr<const split_plan> parts() const;

  dataset_info info_;
  node_ptr whole_;
  mutable mutex mutex_;
  mutable std::shared_ptr<const split_plan> parts_ ABSL_GUARDED_BY(mutex_);
  mutable split_forms forms_;
};

/// The splits of a round, as payloads. Used by dispatchers.
struct listed_payloads {
  std::vector<std::string> payloads;
  bool is_last = true;
  bool is_endless = false;  ///< the plan repeats without end
};
/// Lists the splits of one round of a dataset, with its seed and epoch.
task<result<listed_payloads>> list_round(dataset_info info, std::uint64_t round, runtime& rt);

class worker_plans {
 public:
  explicit worker_plans(std::shared_ptr<service_link> link) : link_(std::move(link)) {}
  task<result<std::shared_ptr<const dataset_plan>>> find(std::string dataset);

 private:
  static constexpr std::size_t kKept = 64;

  const std::shared_ptr<service_link> link_;
  mutex mutex_;
  std::map<std::string, std::shared_ptr<const dataset_plan>> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
