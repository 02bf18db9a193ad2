// SPDX-License-Identifier: Apache-2.0
// An estimate of the bytes of one element in a channel, learned from the elements that have passed through it.
//
// A channel charges blocks before they are computed. Otherwise all its slots could be filled before the first of them
// has a size. An estimate that is too high reduces read-ahead; one that is too low exceeds the budget. So a larger
// element raises it at once, and smaller elements lower it slowly. All inner channels of an interleave share one
// estimate, so that only the first of them starts without one.
// Thread: any.  Units: bytes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "element/batches/kernels.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

/// Returns true if elements of t may own more than their own size. Classes that do not declare it count as not owning
/// more.
inline bool owns_bytes(const element_type& t) { return t.footprint && t.footprint != detail::no_footprint; }

class size_estimate {
 public:
  /// The estimate for one element; 0: no element has been seen yet.
  std::size_t each_bytes() const { return each_.load(std::memory_order_relaxed); }  // an independent number
  /// The largest size so far, forgotten slowly. For charges that cannot be corrected later: calls that are awaited.
  std::size_t largest_bytes() const { return largest_.load(std::memory_order_relaxed); }
  void learn(std::size_t bytes, std::size_t elements) {
    if (elements == 0) return;
    std::size_t each = std::max<std::size_t>(1, bytes / elements), old = each_bytes();
    std::size_t largest = largest_bytes();
    largest_.store(each >= largest ? each : largest - (largest - each) / kForgetsSlowly, std::memory_order_relaxed);
    // One of several concurrent updates may be lost; the next block corrects the estimate.
    each_.store(each >= old ? each : old - (old - each) / kForgets, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kForgets = 16;  // number of blocks after which a large one is two thirds forgotten
  static constexpr std::size_t kForgetsSlowly = 4096;
  std::atomic<std::size_t> each_{0};
  std::atomic<std::size_t> largest_{0};
};

}  // namespace sluice::lib
