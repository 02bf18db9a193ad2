// SPDX-License-Identifier: Apache-2.0
// slice_slots: exchanges records and lines that a stage holds, without an allocation for each.
//
//   slice_slots slots;
//   slots.exchange(held, places, in, to, n);
//
// A held slice has a small buffer of its own. If the new bytes fit into it, they overwrite the old ones, which first
// move to a buffer of 64 KiB that all delivered slices share. So a steady stage allocates nothing, and its consumer
// reads bytes that lie one after the other. The shared buffer begins again as soon as no delivered slice is left.
// Slices of more than kCopiedBytesMax keep their buffers: copying them costs more than allocating.
// Memory: a slot's buffer exceeds its slice by an eighth and 32 bytes at most.
// Thread: that of the stage. The delivered slices may be used on any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/base/buffer.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

class slice_slots {
 public:
  static constexpr std::size_t kCopiedBytesMax = 512;
  static constexpr std::size_t kSharedBytes = std::size_t{64} << 10;

  /// Returns true if elements of this type are slices.
  static bool holds(const element_type& type);

  /// For each i, moves the slice in slots[places[i]] to uninitialized to[i], and then in[i], made compact, to that slot.
  /// Afterwards the elements of `in` are moved from. Errors: std::bad_alloc; `to` then has no elements, and every slot
  /// has one.
  void exchange(slice* slots, const std::uint32_t* places, slice* in, slice* to, std::uint32_t n);

 private:
  bool overwrite(slice& slot, const slice& in, slice* to);
  char* room(std::size_t bytes);
  void count_delivered() noexcept;

  buffer_ref shared_;
  std::size_t used_bytes_ = 0;
  std::uint32_t delivered_ = 0;  ///< slices of shared_ whose references are not counted yet
};

}  // namespace sluice::lib
