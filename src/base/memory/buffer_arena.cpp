// SPDX-License-Identifier: Apache-2.0
#include "base/memory/buffer_arena.hpp"

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

#include "base/memory/buffer_lists.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib {

/// The first bytes of a chunk, which begins at a multiple of its size, so that its buffers find it.
struct buffer_arena::chunk {
  std::atomic<std::size_t> references{1};  ///< of the arena and the buffers, as those of buffer
};

void buffer_arena::add_chunk() {
  void* at = allocate_huge_page();
  leave_chunk();
  chunk_ = ::new (at) chunk;
  used_ = buffer::kAlignment;
}

buffer* buffer_arena::make(std::size_t bytes) noexcept {
  const std::size_t size = size_of(bytes);
  SLUICE_REQUIRES(has_room_for(size), "the arena has no room for the buffer");
  chunk_->references.fetch_add(1, std::memory_order_relaxed);
  char* at = reinterpret_cast<char*>(chunk_) + std::exchange(used_, used_ + size);
  return buffer_access::create_in_arena(at, size - buffer::kAlignment);
}

void buffer_arena::free(buffer* b) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(b);
  drop_references(reinterpret_cast<chunk*>(address - address % kChunkBytes), 1);
}

void buffer_arena::drop_references(chunk* of, std::size_t n) noexcept {
  // acq_rel: the thread that frees the chunk sees all accesses to its bytes.
  if (of->references.fetch_sub(n, std::memory_order_acq_rel) != n) return;
  of->~chunk();
  free_huge_page(of);
}

void buffer_arena::leave_chunk() noexcept {
  if (chunk_) drop_references(std::exchange(chunk_, nullptr), 1);
}

}  // namespace sluice::lib
