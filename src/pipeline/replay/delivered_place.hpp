// SPDX-License-Identifier: Apache-2.0
// Keeps the place of a run that stores bad elements: the last mark, and the number of elements that its consumer has
// received since. So the position before a bad element is known while the run makes its next block.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sluice/base/mutex.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Thread: any.
class delivered_place {
 public:
  void marked(mark m);
  void delivered(std::uint64_t elements) {
    elements_.store(elements, std::memory_order_relaxed);  // read by the thread that waits for the stage
  }
  std::uint64_t elements() const { return elements_.load(std::memory_order_relaxed); }
  /// Returns the position before the next element; empty: it is not known.
  std::string position() const;

 private:
  mutable mutex mutex_;
  /// The last two marks, of different elements. An error that comes before the next element of the newer mark may have
  /// occurred before that mark was made, and a run from there does not meet it again. Its position is the older mark.
  std::vector<mark> marks_ ABSL_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> elements_{0};
};

/// The stage at the end of a run that keeps its place. It delivers the blocks of its input, and has no record in
/// positions. `run`: must outlive it.
erased_stream keep_place(erased_stream in, environment& run, std::shared_ptr<delivered_place> to);
/// Returns true if a stage of the plan, or of its inner plans, stores its bad elements.
bool names_quarantine(const node& plan);

}  // namespace sluice::lib
