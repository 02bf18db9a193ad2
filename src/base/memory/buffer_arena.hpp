// SPDX-License-Identifier: Apache-2.0
// Buffers that stay for a long time, one after another in chunks of the size of a huge page. A page fault for each 4 KiB
// costs more than the copy of its bytes, and a huge page is one fault for 2 MiB.
//
//   buffer_arena arena;
//   if (!arena.has_room_for(buffer_arena::size_of(bytes))) arena.add_chunk();   // charge kChunkBytes before
//   buffer* b = arena.make(bytes);                                              // one reference, the caller's
//
// Owns:   its last chunk. Each buffer owns its chunk, too: the chunk is freed when its last buffer is, and the arena has
//         begun another one or is gone.
// Errors: add_chunk(): std::bad_alloc.
// Thread: one at a time. The references of the buffers may be dropped on any thread.
#pragma once

#include <cstddef>

#include "base/memory/pages.hpp"
#include "sluice/base/buffer.hpp"

namespace sluice::lib {

class buffer_arena {
 public:
  static constexpr std::size_t kChunkBytes = kHugePageBytes;

  buffer_arena() = default;
  buffer_arena(const buffer_arena&) = delete;
  ~buffer_arena() { leave_chunk(); }

  /// The room that make(bytes) takes: with the header, a multiple of the alignment.
  static constexpr std::size_t size_of(std::size_t bytes) {
    return (buffer::kAlignment + bytes + buffer::kAlignment - 1) / buffer::kAlignment * buffer::kAlignment;
  }
  /// Returns true if buffers whose sizes have this sum fit into the last chunk.
  bool has_room_for(std::size_t sizes) const { return chunk_ && sizes <= kChunkBytes - used_; }
  /// Begins a chunk, and leaves the rest of the last one unused.
  void add_chunk();
  /// An aligned buffer, uninitialized. REQUIRES: has_room_for(size_of(bytes)).
  buffer* make(std::size_t bytes) noexcept;

 private:
  struct chunk;
  friend struct buffer_access;
  /// Frees a buffer that make() has returned, which has no references any more.
  static void free(buffer* b) noexcept;
  static void drop_references(chunk* of, std::size_t n) noexcept;
  void leave_chunk() noexcept;

  chunk* chunk_ = nullptr;
  std::size_t used_ = 0;  ///< bytes of the chunk
};

}  // namespace sluice::lib
