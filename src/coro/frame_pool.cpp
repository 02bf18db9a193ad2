// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/detail/frame_pool.hpp"

#include <array>
#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLUICE_POOL_FRAMES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SLUICE_POOL_FRAMES 0
#endif
#endif
#ifndef SLUICE_POOL_FRAMES
#define SLUICE_POOL_FRAMES 1
#endif

namespace sluice::lib::detail {
namespace {

// Under a sanitizer every frame comes from malloc: a recycled frame would hide a use after free.
constexpr bool kPoolFrames = SLUICE_POOL_FRAMES;

constexpr std::size_t kGranuleBytes = 64;  // a cache line: frames of different threads never share one
constexpr std::size_t kClasses = 32;       // frames up to 2 KiB; larger ones are rare and go to malloc
constexpr std::uint32_t kFramesMax =
    1024;  // per class and thread: enough for the frames of a when_all or scope; bounds the memory a thread keeps

struct free_frame_node {
  free_frame_node* next;
};
struct free_list {
  free_frame_node* head = nullptr;
  std::uint32_t count = 0;
};

struct frame_lists {
  std::array<free_list, kClasses> lists{};
  bool alive = true;
  ~frame_lists() {
    alive = false;
    for (auto& l : lists)
      while (l.head) {
        auto* n = l.head;
        l.head = n->next;
        ::operator delete(n);
      }
  }
};

thread_local frame_lists t_lists;

}  // namespace

[[gnu::noinline]] void* allocate_frame(std::size_t size_bytes) {
  std::size_t index = (size_bytes - 1) / kGranuleBytes;
  if (!kPoolFrames || index >= kClasses) return ::operator new(size_bytes);
  free_list& l = t_lists.lists[index];
  if (auto* n = l.head) {
    l.head = n->next;
    --l.count;
    return n;
  }
  return ::operator new((index + 1) * kGranuleBytes);
}

[[gnu::noinline]] void free_frame(void* frame, std::size_t size_bytes) noexcept {
  std::size_t index = (size_bytes - 1) / kGranuleBytes;
  if (!kPoolFrames || index >= kClasses || !t_lists.alive || t_lists.lists[index].count >= kFramesMax) {
    ::operator delete(frame);
    return;
  }
  free_list& l = t_lists.lists[index];
  auto* n = static_cast<free_frame_node*>(frame);
  n->next = l.head;
  l.head = n;
  ++l.count;
}

}  // namespace sluice::lib::detail
