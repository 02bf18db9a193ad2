// SPDX-License-Identifier: Apache-2.0
// Properties of a file that are known before it is read: from a listing, or from opening it.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::lib {

/// If all of these are equal, it is still the same file.
struct file_info {
  static constexpr std::uint64_t kUnknownSize = ~std::uint64_t{0};
  std::uint64_t size_bytes = kUnknownSize;
  std::int64_t modified_ns = 0;  ///< since 1970
  std::uint64_t inode = 0;       ///< with `device`; for local files
  std::uint64_t device = 0;
  std::string version = {};  ///< for remote objects: the ETag or the generation
  bool is_stream = false;    ///< it can be read only once, and the other members are meaningless

  bool has_size() const noexcept { return size_bytes != kUnknownSize; }
  friend bool operator==(const file_info&, const file_info&) = default;
};

}  // namespace sluice::lib
