// SPDX-License-Identifier: Apache-2.0
#include "engine/held/slice_slots.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "base/memory/recycling.hpp"
#include "element/tensors/slice_owners.hpp"
#include "sluice/element/type_of.hpp"

namespace sluice::lib {
namespace {

/// The slots come from any place in memory: their slices are loaded twice this number of exchanges ahead, and the bytes
/// this number ahead. A cache miss takes as long as some four exchanges.
constexpr std::uint32_t kSlotsAhead = 8;

void fetch_bytes(const slice& s) noexcept {
  constexpr std::size_t kLine = 64, kFetchedBytes = 256;  // the processor detects longer accesses itself
  __builtin_prefetch(s.owner(), 1);
  const std::size_t end = s.size() < kFetchedBytes ? s.size() : kFetchedBytes;
  for (std::size_t at = 0; at < end; at += kLine) __builtin_prefetch(s.data() + at, 1);
  if (end) __builtin_prefetch(s.data() + end - 1, 1);
}

/// Moves a slice to uninitialized memory. The source is not destroyed: its memory is to be constructed again.
void relocate_slice(slice* to, const slice& from) noexcept {
  ::new (static_cast<void*>(to)) slice(from.owner(), from.data(), from.size());
}

bool fits_in_place(const slice& slot, std::size_t bytes) noexcept {
  if (slot.size() > slice_slots::kCopiedBytesMax || !slot.owner()) return false;
  const std::size_t capacity = slot.owner()->capacity();
  return bytes <= capacity && capacity <= bytes + bytes / 8 + 32 && slot.owner()->unshared();
}

}  // namespace

bool slice_slots::holds(const element_type& type) { return &type == &type_of<record>() || &type == &type_of<line>(); }

void slice_slots::count_delivered() noexcept {
  if (delivered_) shared_->add_references(std::exchange(delivered_, 0));
}

/// Returns memory for the bytes of a slice that is delivered.
char* slice_slots::room(std::size_t bytes) {
  if (!shared_ || bytes > shared_->capacity() - used_bytes_) {
    count_delivered();
    shared_ = buffer_ref(buffer::make_recycled(kSharedBytes));
    used_bytes_ = 0;
  }
  char* at = shared_->data() + used_bytes_;
  used_bytes_ += bytes;
  return at;
}

/// Returns false if the new bytes do not fit into the slot's buffer; nothing has changed then.
bool slice_slots::overwrite(slice& slot, const slice& in, slice* to) {
  if (!fits_in_place(slot, in.size())) return false;
  char* at = room(slot.size());
  std::memcpy(at, slot.data(), slot.size());
  ::new (static_cast<void*>(to)) slice(shared_.get(), at, slot.size());
  ++delivered_;
  buffer* own = slot.owner();
  std::memcpy(own->data(), in.data(), in.size());
  ::new (static_cast<void*>(&slot)) slice(own, own->data(), in.size());
  return true;
}

void slice_slots::exchange(slice* slots, const std::uint32_t* places, slice* in, slice* to, std::uint32_t n) {
  if (kRecycles && shared_ && shared_->unshared()) used_bytes_ = 0;
  left_buffers left;
  std::uint32_t i = 0;
  try {
    for (; i != n; ++i) {
      if (i + 2 * kSlotsAhead < n) __builtin_prefetch(&slots[places[i + 2 * kSlotsAhead]], 1);
      if (i + kSlotsAhead < n) fetch_bytes(slots[places[i + kSlotsAhead]]);
      slice& slot = slots[places[i]];
      const bool must_copy = holds_too_much(in[i]);
      if (!must_copy || !overwrite(slot, in[i], to + i)) {
        slice own = must_copy ? slice::copy_of(in[i].view()) : slice();
        relocate_slice(to + i, slot);
        relocate_slice(&slot, must_copy ? own : in[i]);
        ::new (static_cast<void*>(&own)) slice();
      }
      if (must_copy) left.add(in[i].owner());
      ::new (static_cast<void*>(in + i)) slice();
    }
  } catch (...) {
    count_delivered();
    slice::sluice_destroy(to, i);
    throw;
  }
  count_delivered();
}

}  // namespace sluice::lib
