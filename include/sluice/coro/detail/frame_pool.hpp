// SPDX-License-Identifier: Apache-2.0
// Memory for coroutine frames, from per-thread free lists.
//
//   struct promise_type : promise_base, detail::pooled_frame { … };      // the frames of this coroutine are pooled
//
// Shape:  one list for each multiple of 64 bytes up to 2 KiB. Larger frames come from malloc. Under a sanitizer all
//         frames do, since a recycled frame would hide a use after free.
// Thread: any. A frame may be freed on another thread than the one that allocated it, and then joins that thread's
//         list. A list has at most 1,024 frames, so that frames allocated by one thread and freed by another do not
//         accumulate.
// Cost:   about 3 ns per allocation; malloc takes 10.
// Errors: std::bad_alloc, thrown out of the call of the coroutine.
#pragma once

#include <cstddef>

namespace sluice::lib::detail {

// Not inline, because a compiler may keep the address of the thread_local list inside across a suspension point, after
// which the coroutine may run on another thread (docs/internals/hazards.md).
void* allocate_frame(std::size_t size_bytes);
/// REQUIRES: `size_bytes` is the size with which the frame was allocated.
void free_frame(void* frame, std::size_t size_bytes) noexcept;

/// Base class of the promise types whose frames come from the pool.
struct pooled_frame {
  static void* operator new(std::size_t size_bytes) { return allocate_frame(size_bytes); }
  static void operator delete(void* frame, std::size_t size_bytes) noexcept { free_frame(frame, size_bytes); }
};

}  // namespace sluice::lib::detail
