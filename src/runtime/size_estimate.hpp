// SPDX-License-Identifier: Apache-2.0
// An estimate of the bytes of one element in a channel, and of what it costs to make and to use, learned from the elements
// that have passed through it.
//
// A channel charges blocks before they are made; otherwise all its slots could be filled before the first of them has a
// size. An estimate that is too high reduces read-ahead, one that is too low exceeds the budget: so it is raised at
// once for a larger element, and lowered slowly for smaller ones. All inner channels of an interleave share one
// estimate, so that only the first of them starts without one.
//
// By the costs a channel decides whether its blocks are light: cheaper to make where they are used than to move there
// (docs/decisions/0037-light-blocks.md).
// Thread: any.  Units: bytes, nanoseconds.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "element/kernels.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

/// May elements of t own more than their own size? Of a class that does not say so, nobody knows.
inline bool owns_bytes(const element_type& t) { return t.footprint && t.footprint != detail::no_footprint; }

class size_estimate {
 public:
  /// One element; 0: none was seen yet.
  std::size_t each_bytes() const { return each_.load(std::memory_order_relaxed); }  // a number by itself
  /// The largest that came, remembered for long. Where a wrong guess cannot be taken back: calls that are awaited.
  std::size_t largest_bytes() const { return largest_.load(std::memory_order_relaxed); }
  /// Time to make one element; 0: not known.
  double made_ns() const { return made_ns_.load(std::memory_order_relaxed); }
  /// Time that the reader takes with one before it asks for more; below 0: not known.
  double used_ns() const { return used_ns_.load(std::memory_order_relaxed); }
  void learn_made(double ns, std::size_t elements) { learn_time(made_ns_, ns, elements); }
  void learn_used(double ns, std::size_t elements) { learn_time(used_ns_, ns, elements); }
  /// As the last block was weighed; at first no.
  bool is_light() const { return light_.load(std::memory_order_relaxed); }
  void set_light(bool yes) { light_.store(yes, std::memory_order_relaxed); }

  void learn(std::size_t bytes, std::size_t elements) {
    if (elements == 0) return;
    std::size_t each = std::max<std::size_t>(1, bytes / elements), old = each_bytes();
    std::size_t largest = largest_bytes();
    largest_.store(each >= largest ? each : largest - (largest - each) / kForgetsSlowly, std::memory_order_relaxed);
    // Of concurrent updates one may be lost; the next block corrects the estimate.
    each_.store(each >= old ? each : old - (old - each) / kForgets, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kForgets = 16;  // blocks until a large one is two thirds forgotten
  static constexpr std::size_t kForgetsSlowly = 4096;
  static constexpr double kTimeShare = 0.125;  // of a new time: one block that was interrupted decides nothing

  static void learn_time(std::atomic<double>& each, double ns, std::size_t elements) {
    if (elements == 0) return;
    double now = std::max(ns, 1.0) / static_cast<double>(elements), old = each.load(std::memory_order_relaxed);
    // Long times are rarely the work's: a fault, another thread. They count twice the old at most.
    each.store(old <= 0 ? now : old + (std::min(now, 2 * old) - old) * kTimeShare, std::memory_order_relaxed);
  }

  std::atomic<std::size_t> each_{0};
  std::atomic<std::size_t> largest_{0};
  std::atomic<double> made_ns_{0}, used_ns_{-1};
  std::atomic<bool> light_{false};
};

}  // namespace sluice::lib
