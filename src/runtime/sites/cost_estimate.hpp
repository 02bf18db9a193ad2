// SPDX-License-Identifier: Apache-2.0
// The cost of computing and using the elements of a channel, learned from earlier elements; and whether the channel's
// blocks are light: cheaper to compute where they are used than to move there (docs/internals/decisions/channels.md).
//
// All channels with one name in a stage of the plan share an estimate, so the inner channels of an interleave begin
// with the values that the first of them has learned.
// Thread: any; one of several concurrent updates may be lost. Units: nanoseconds, bytes.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

class cost_estimate {
 public:
  /// Time to get one element from the input, to compute one output, and until the reader asks for more.
  void learn_pulled(duration took, std::size_t elements) {
    count_long(long_pulls_, took);
    learn(pulled_, took, elements);
  }
  void learn_computed(duration took, std::size_t elements) {
    count_long(long_computations_, took);
    learn(computed_, took, elements);
  }
  void learn_used(duration took, std::size_t elements) { learn(used_, took, elements); }

  /// Returns the result for the last block weighed; initially false.
  bool is_light() const { return light_.load(std::memory_order_relaxed); }

  /// Returns true if the last two blocks took more than a millisecond each: they may be waiting for something.
  bool are_long() const {
    return long_pulls_.load(std::memory_order_relaxed) >= 2 || long_computations_.load(std::memory_order_relaxed) >= 2;
  }

  /// Properties of the channel to be weighed.
  struct channel {
    std::size_t element_bytes = 1;          ///< bytes to move
    bool owners = false;                    ///< elements own memory, which one core allocates and another frees
    std::size_t block_bytes = 0;            ///< the most bytes in a block
    std::size_t block_elements = 1;         ///< the most elements in a block
    std::chrono::nanoseconds block_time{};  ///< intended duration of a block
    bool several = false;                   ///< other channels are pulled at the same time, as in an interleave
  };
  /// Decides whether blocks are light from now on. Light blocks need twice the gain to become heavy.
  void weigh(executor& exec, const channel& c) {
    double pulled = of(pulled_, 0), computed = of(computed_, 0), used = of(used_, kNsMax);
    double made = std::max(1e-3, pulled + computed);
    // At best two cores need half of the total time. The time is never less than that of a part that cannot be shared:
    // the reader, or the pump unless the stage has several pumps.
    double all = made + used, gain = all - std::max({all / 2, used, c.several ? 0 : pulled});
    double most = std::min(static_cast<double>(c.block_elements),
                           static_cast<double>(c.block_bytes) / static_cast<double>(c.element_bytes));
    double n = std::max(1.0, std::min(most, std::chrono::duration<double, std::nano>(c.block_time).count() / made));
    bool was = is_light();
    if (was) gain /= kToChange;
    bool may_wait = made * n > kNsMax || are_long();
    const moved_data moved{.bytes = static_cast<std::size_t>(n * static_cast<double>(c.element_bytes)),
                           .owners = c.owners ? static_cast<std::size_t>(n) : 0};
    set_light(!may_wait && !exec.worth_sharing(std::chrono::nanoseconds(static_cast<long>(gain * n)), moved));
  }

 private:
  /// The mean cost of one element, over the elements of some blocks. A block of one element, with all the costs of a
  /// start, has little weight beside a full one, and no block decides alone.
  struct average {
    std::atomic<double> ns{-1};  ///< below 0: not known
    std::atomic<double> weight{0};
  };
  static constexpr double kBlocks = 7;   // of the newest size
  static constexpr double kNsMax = 1e6;  // a block that takes longer may be waiting for something
  static constexpr double kToChange = 2;

  void set_light(bool yes) {
    if (yes != is_light()) light_.store(yes, std::memory_order_relaxed);
  }
  static double of(const average& a, double unless_known) {
    double ns = a.ns.load(std::memory_order_relaxed);
    return ns < 0 ? unless_known : ns;
  }
  static void count_long(std::atomic<std::uint32_t>& in_a_row, duration took) {
    if (static_cast<double>(took.count()) > kNsMax) in_a_row.fetch_add(1, std::memory_order_relaxed);
    else if (in_a_row.load(std::memory_order_relaxed)) in_a_row.store(0, std::memory_order_relaxed);
  }
  void learn(average& each, duration took, std::size_t elements) {
    if (elements == 0) return;
    auto n = static_cast<double>(elements);
    double now = std::max(1.0, static_cast<double>(took.count())) / n;
    double old = each.ns.load(std::memory_order_relaxed);
    double weight = std::min(each.weight.load(std::memory_order_relaxed), kBlocks * n);
    // A long time usually has another cause than the work: a page fault, another thread. It counts as at most twice the
    // old value, unless long times repeat.
    double most = are_long() ? now : 2 * old;
    if (old >= 0) now = old + (std::min(now, most) - old) * (n / (n + weight));
    each.ns.store(now, std::memory_order_relaxed);
    each.weight.store(weight + n, std::memory_order_relaxed);
  }

  average pulled_, computed_, used_;
  std::atomic<std::uint32_t> long_pulls_{0}, long_computations_{0};  ///< consecutive ones
  std::atomic<bool> light_{false};
};

}  // namespace sluice::lib
