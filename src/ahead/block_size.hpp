// SPDX-License-Identifier: Apache-2.0
// block_size: the number of elements that a channel requests for one block, adjusted to the time and the bytes that
// blocks take. It grows while blocks are quick to produce.
// Thread: guarded by the channel's mutex.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

class block_size {
 public:
  static constexpr std::uint32_t kElementsMax = 1024;
  /// A block should take 50-200 µs: long compared with a hand-over and a wake-up (some 10 µs), short compared with a
  /// consumer's step.
  static constexpr auto kTime = std::chrono::microseconds(100);

  /// The number of elements to request for a block.
  std::uint32_t elements() const { return elements_; }
  /// Returns true if a block takes less time than a wake-up.
  bool is_quick() const { return is_quick_; }
  /// A block of `count` elements and `bytes` took `took`; a block should have at most `bytes_max`.
  void learn(duration took, std::uint32_t count, std::size_t bytes, std::size_t bytes_max) {
    is_quick_ = took < kTime;
    if (count > elements_) {  // a block that was extended to the end of a group
      took = took * elements_ / count;
      bytes = bytes / count * elements_;
      count = elements_;
    }
    if (took > kTime * 2 || bytes > bytes_max) elements_ = std::max(1u, std::min(elements_, count) / 2);
    else if (took < kTime / 2 && bytes < bytes_max / 2 && count >= elements_)
      elements_ = std::min(elements_ * 2, kElementsMax);
  }

 private:
  std::uint32_t elements_ = 1;
  bool is_quick_ = false;
};

}  // namespace sluice::lib
