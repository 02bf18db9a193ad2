// SPDX-License-Identifier: Apache-2.0
// Computes the CRC-32C of an object that is read in pieces, in any order.
//
//   whole_checksum seen(size);
//   if (auto crc = seen.add(offset, bytes)) …           // the last piece returns the object's CRC-32C
//
// The computation ends without a result if pieces overlap, or if there are more than kPiecesMax separate pieces, for
// example when a reader jumps back and forth.
// Thread: any.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "sluice/base/mutex.hpp"

namespace sluice::lib::detail {

/// Returns the CRC-32C of two texts joined, from the checksum of each. `after_bytes`: the length of the second text.
std::uint32_t joined_crc32c(std::uint32_t before, std::uint32_t after, std::uint64_t after_bytes);

class whole_checksum {
 public:
  /// The maximum number of separate pieces. A sequential reader has one for each read in flight.
  static constexpr std::size_t kPiecesMax = 1024;

  explicit whole_checksum(std::uint64_t size_bytes) : size_(size_bytes) {}
  std::optional<std::uint32_t> add(std::uint64_t offset, std::span<const char> bytes);

 private:
  struct piece {
    std::uint64_t end;
    std::uint32_t crc;
  };
  std::optional<std::uint32_t> give_up() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::uint64_t size_;
  mutex mutex_;
  std::map<std::uint64_t, piece> pieces_
      ABSL_GUARDED_BY(mutex_);  ///< by offset; no two are adjacent
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice::lib::detail
