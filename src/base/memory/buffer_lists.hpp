// SPDX-License-Identifier: Apache-2.0
// The parts that the pools of buffers share: a buffer's memory, and lists of unreferenced buffers.
#pragma once

#include <cstddef>
#include <utility>

#include "sluice/base/assert.hpp"
#include "sluice/base/buffer.hpp"

namespace sluice::lib {

/// The members of buffer that its pools use.
struct buffer_access {
  static buffer* create(std::size_t capacity, bool aligned);
  static void destroy(buffer* b) noexcept;
  /// A buffer in the memory of a buffer_arena.
  static buffer* create_in_arena(void* at, std::size_t capacity) noexcept;
  static void free_in_arena(buffer* b) noexcept;
  /// Returns the next buffer in the list; all buffers here are unreferenced.
  static buffer*& next(buffer* b) noexcept { return b->next_parked_; }
  /// Sets the references of a buffer from a list to one.
  static buffer* revive(buffer* b) noexcept;
};

class buffer_list {
 public:
  bool empty() const noexcept { return !first_; }
  void push(buffer* b) noexcept {
    buffer_access::next(b) = first_;
    first_ = b;
  }
  /// REQUIRES: not empty. Prefetches the next buffer into the cache, because callers usually take several.
  buffer* pop() noexcept {
    SLUICE_REQUIRES(first_, "the list of buffers is empty");
    buffer* b = std::exchange(first_, buffer_access::next(first_));
    if (first_) {
      __builtin_prefetch(first_, 1);
      __builtin_prefetch(reinterpret_cast<char*>(first_) + 64, 1);
    }
    return b;
  }

 private:
  buffer* first_ = nullptr;
};

}  // namespace sluice::lib
