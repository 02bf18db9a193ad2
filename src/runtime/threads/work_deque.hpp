// SPDX-License-Identifier: Apache-2.0
// A bounded work-stealing deque of coroutine frames.
//
// D. Chase, Y. Lev: Dynamic Circular Work-Stealing Deque, SPAA 2005, in the C11 form of N. M. Lê, A. Pop, A. Cohen,
// F. Zappa Nardelli: Correct and Efficient Work-Stealing for Weak Memory Models, PPoPP 2013; with two changes. The ring
// does not grow: push() fails if the deque is full, and the scheduler's injector takes the item. In place of the
// paper's stand-alone fences, the accesses of `top_` and `bottom_` are sequentially consistent. ThreadSanitizer
// understands these (it does not model fences), and on x86-64 they are the same instructions.
//
// Invariants
//   top_ ≤ bottom_ except inside pop(); items live in [top_, bottom_). top_ only grows, so a CAS on it has no ABA.
//   bottom_ is written by the owner only. Slot i is rewritten only when top_ > i - kCapacity. So a thief that read a
//   slot while the owner reused it finds top_ moved: its CAS fails, and the value that it read is discarded.
//   The last item is decided by the CAS on top_, between the owner's pop and the thieves.
// Thread: push and pop by the owner; steal and size by anyone.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace sluice::lib::detail {

class work_deque {
 public:
  // 2 KiB: longer queues contain stale work, which the injector distributes better.
  static constexpr std::int64_t kCapacity = 256;

  /// Returns false if the deque is full.
  bool push(void* item) noexcept {
    std::int64_t b = bottom_.load(std::memory_order_relaxed);  // written only by this thread
    // acquire: a thief that advanced top_ has read its slot before we write it again
    if (b - top_.load(std::memory_order_acquire) >= kCapacity) return false;
    slots_[b & kMask].store(item, std::memory_order_relaxed);  // published by bottom_
    // seq_cst, not release: the pusher next checks whether a worker sleeps; the sleeper has announced itself and checks
    // bottom_. One of the two must see the other (scheduler: notify).
    bottom_.store(b + 1, std::memory_order_seq_cst);
    return true;
  }

  /// Removes and returns the newest item, or null if none is left.
  void* pop() noexcept {
    std::int64_t b = bottom_.load(std::memory_order_relaxed) - 1;
    // An empty deque stays empty for its owner, whatever thieves do, so it needs no expensive store.
    if (b < top_.load(std::memory_order_relaxed)) return nullptr;
    bottom_.store(b, std::memory_order_seq_cst);  // claims slot b before looking at top_
    std::int64_t t = top_.load(std::memory_order_seq_cst);
    if (t < b) return slots_[b & kMask].load(std::memory_order_relaxed);
    void* item = nullptr;
    if (t == b) {
      item = slots_[b & kMask].load(std::memory_order_relaxed);
      if (!top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst)) item = nullptr;  // a thief was faster
    }
    bottom_.store(b + 1, std::memory_order_relaxed);
    return item;
  }

  /// Removes and returns the oldest item, or null if the deque is empty. After a lost race, tries the next item.
  void* steal() noexcept {
    std::int64_t t = top_.load(std::memory_order_seq_cst);
    while (t < bottom_.load(std::memory_order_seq_cst)) {
      void* item = slots_[t & kMask].load(std::memory_order_relaxed);
      // A failed CAS reloads t. seq_cst orders it with the owner's claim in pop().
      if (top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst)) return item;
    }
    return nullptr;
  }

  /// A momentary value. seq_cst: the sleeper's side of the agreement in push().
  bool empty() const noexcept {
    return bottom_.load(std::memory_order_seq_cst) <= top_.load(std::memory_order_seq_cst);
  }

 private:
  static constexpr std::int64_t kMask = kCapacity - 1;

  alignas(64) std::atomic<std::int64_t> top_{0};     // written by thieves
  alignas(64) std::atomic<std::int64_t> bottom_{0};  // written by the owner
  alignas(64) std::array<std::atomic<void*>, kCapacity> slots_{};
};

}  // namespace sluice::lib::detail
