// SPDX-License-Identifier: Apache-2.0
// The program's operator new if it links mimalloc. mimalloc is a library in C: its own operator new cannot throw, and
// ends the process if an allocation fails. These operators use the same malloc and throw std::bad_alloc, which ends the
// run with resource_exhausted.
#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

std::size_t at_least_one(std::size_t size) { return size ? size : 1; }

/// Follows the standard: a new handler, if set, may free memory, and throws if it cannot.
template <class Allocate> void* allocated(Allocate allocate) {
  for (;;) {
    if (void* made = allocate()) return made;
    std::new_handler find_more = std::get_new_handler();
    if (!find_more) throw std::bad_alloc();
    find_more();
  }
}

void* allocated(std::size_t size) {
  return allocated([size] { return std::malloc(at_least_one(size)); });
}

void* allocated(std::size_t size, std::align_val_t alignment) {
  const auto align = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
  return allocated([size, align] {
    void* made = nullptr;
    return posix_memalign(&made, align, at_least_one(size)) == 0 ? made : nullptr;
  });
}

template <class... A> void* allocated_or_null(A... size) noexcept {
  try {
    return allocated(size...);
  } catch (...) { return nullptr; }
}

}  // namespace

// All forms are replaced, because those of mimalloc call each other and not these.
void* operator new(std::size_t size) {
  if (void* made = std::malloc(at_least_one(size))) [[likely]]
    return made;
  return allocated(size);
}
void* operator new[](std::size_t size) { return ::operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocated_or_null(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocated_or_null(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return allocated(size, alignment); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return allocated(size, alignment); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocated_or_null(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocated_or_null(size, alignment);
}

void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }
