// SPDX-License-Identifier: Apache-2.0
#include "base/memory/stack.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>

namespace sluice::lib {
namespace {

struct thread_stack {
  std::uintptr_t low = 0, high = 0;  ///< low: the end that the stack grows to; high 0: not looked up yet
};

/// Without /proc glibc does not know the main thread's stack. Then this many bytes around the caller are assumed, up to
/// its limit.
constexpr std::size_t kGuessedBytesMax = std::size_t{1} << 20;

std::uintptr_t here() noexcept { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

thread_stack look_up() noexcept {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) {
    void* low = nullptr;
    std::size_t bytes = 0, guard = 0;
    const bool is_known = ::pthread_attr_getstack(&attributes, &low, &bytes) == 0 && bytes != 0;
    (void)::pthread_attr_getguardsize(&attributes, &guard);
    ::pthread_attr_destroy(&attributes);
    const auto from = reinterpret_cast<std::uintptr_t>(low);
    // A thread's guard is within its stack; the main thread's stack has the kernel's guard below it.
    if (is_known) return {from + std::min(guard, bytes), from + bytes};
  }
  rlimit limit{};
  std::size_t bytes = kGuessedBytesMax;
  if (::getrlimit(RLIMIT_STACK, &limit) == 0) bytes = std::min<std::size_t>(bytes, limit.rlim_cur / 2);
  return {here() - bytes, here() + bytes};
}

/// Never inlined: a coroutine that continues on another thread must not use the address of the first thread's variable.
[[gnu::noinline]] const thread_stack& of_this_thread() noexcept {
  static thread_local thread_stack known;
  if (known.high == 0) known = look_up();
  return known;
}

}  // namespace

std::size_t stack_bytes() noexcept {
  const thread_stack& s = of_this_thread();
  return s.high - s.low;
}

std::size_t stack_left() noexcept {
  const thread_stack& s = of_this_thread();
  const std::uintptr_t at = here();
  return at > s.low && at <= s.high ? at - s.low : s.high - s.low;
}

}  // namespace sluice::lib
