// SPDX-License-Identifier: Apache-2.0
// epoch_links: connects the epochs of one repeat, so that a stage of one epoch may prepare the same stage of the next one.
//
// A repeat opens its input again for each epoch. A stage that needs no more of its own input, such as a shuffle whose
// buffer empties, can read the input of the next epoch meanwhile. It leaves what it has read to the stage that the repeat
// opens then:
//
//   std::unique_ptr<made_ahead> mine = context.epoch.links->take(context.passes);  // left by the epoch before
//   …
//   open_context next = context.of_next_epoch();                                   // opens the input of the next epoch
//   context.epoch.links->leave(*context.epoch.next_passes, std::move(made));       // at the end
//
// Positions contain nothing of this: a run that resumes reads the next epoch from its start.
// Thread: any. A channel downstream may work for the end of one epoch while its consumer opens the next one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "sluice/base/mutex.hpp"

namespace sluice::lib {

/// Elements, or other state, that a stage has prepared for the next epoch.
class made_ahead {
 public:
  virtual ~made_ahead() = default;
};

class epoch_links {
 public:
  /// Leaves `made` for the epoch with this open_context::passes.
  void leave(std::uint64_t passes, std::unique_ptr<made_ahead> made) {
    mutex_lock lock(mutex_);
    made_.swap(made);
    passes_ = passes;
  }
  /// Returns what was left for this epoch; null: nothing. Destroys what was left for another one.
  std::unique_ptr<made_ahead> take(std::uint64_t passes) {
    std::unique_ptr<made_ahead> made, of_another;
    mutex_lock lock(mutex_);
    (passes == passes_ ? made : of_another).swap(made_);
    return made;
  }
  /// The memory budget has no room for two epochs: the following ones prepare nothing.
  void give_up() noexcept { has_given_up_.store(true, std::memory_order_relaxed); }  // publishes no other data
  bool has_given_up() const noexcept { return has_given_up_.load(std::memory_order_relaxed); }

 private:
  mutex mutex_;
  std::unique_ptr<made_ahead> made_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t passes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> has_given_up_{false};
};

}  // namespace sluice::lib
