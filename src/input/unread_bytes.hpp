// SPDX-License-Identifier: Apache-2.0
// The bytes of a file that its reader does not look at, although they lie between bytes that it needs: the columns of a
// batch that nobody reads. The window has their places, and what is there is unspecified.
//
// Thread: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/byte_range.hpp"

namespace sluice::lib {

class unread_bytes {
 public:
  /// Replaces all ranges. `ranges`: in order, none of them empty.
  void set(std::vector<byte_range> ranges) {
    ranges_ = std::move(ranges);
    is_sparse_ |= !ranges_.empty();
  }
  void clear() {
    ranges_.clear();
    is_sparse_ = false;
  }
  /// Returns true if there was a range since clear(): the reader then wants no more bytes than it asks for.
  bool is_sparse() const { return is_sparse_; }
  /// Returns how many of the n bytes from `at` on follow each other in one range.
  std::size_t unread_at(std::uint64_t at, std::size_t n) const {
    const byte_range* r = next(at);
    return r && r->begin <= at ? static_cast<std::size_t>(std::min<std::uint64_t>(n, r->end - at)) : 0;
  }
  /// Returns how many of the n bytes from `at` on precede the next range.
  std::size_t wanted_at(std::uint64_t at, std::size_t n) const {
    const byte_range* r = next(at);
    return r ? static_cast<std::size_t>(std::min<std::uint64_t>(n, std::max(r->begin, at) - at)) : n;
  }

 private:
  /// Returns the first range that ends after `at`; null if none does.
  const byte_range* next(std::uint64_t at) const {
    const auto found = std::ranges::upper_bound(ranges_, at, {}, &byte_range::end);
    return found == ranges_.end() ? nullptr : &*found;
  }

  std::vector<byte_range> ranges_{};
  bool is_sparse_ = false;
};

}  // namespace sluice::lib
