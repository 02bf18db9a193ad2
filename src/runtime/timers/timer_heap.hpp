// SPDX-License-Identifier: Apache-2.0
// Pending wake-ups ordered by due time: a binary heap whose nodes know their index, so that cancelling costs O(log n).
//
// Timers with the same due time fire in the order in which they were armed: a simulation must not depend on accidents
// of the heap.
// Thread: none; the clocks lock around it.
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

class timer_heap {
 public:
  bool empty() const noexcept { return entries_.empty(); }
  std::size_t size() const noexcept { return entries_.size(); }
  time_point next_due() const noexcept { return entries_.front().node->due; }
  void push(timer_node& node);
  timer_node* pop();
  /// Returns false if the node is not in the heap.
  bool erase(timer_node& node);

 private:
  static constexpr std::size_t kAbsent = ~std::size_t{0};
  struct entry {
    timer_node* node;
    std::uint64_t number;
  };
  static bool before(const entry& a, const entry& b) noexcept;
  void put(std::size_t at, entry e) noexcept;
  void rise(std::size_t at, entry e) noexcept;
  void sink(std::size_t at, entry e) noexcept;
  void remove(std::size_t at) noexcept;

  std::vector<entry> entries_;
  std::uint64_t armed_ = 0;
};

}  // namespace sluice::lib
