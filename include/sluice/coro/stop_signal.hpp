// SPDX-License-Identifier: Apache-2.0
// stop_signal: a std::stop_token, without the cost of compiling <stop_token>.
//
//   std::stop_source source;
//   environment env;
//   env.stop = source.get_token();
//   std::stop_callback tell(env.stop, [] { … });           // with <stop_token>
//
// <stop_token> includes threads and semaphores: a tenth of the cost of including sluice/sluice.hpp. All headers of
// streams and tasks pass a token on, and need nothing else of it (docs/internals/decisions/compile_time.md).
// Thread: the same as for a std::stop_token.
#pragma once

#include <cstddef>

#if defined(__GLIBCXX__)
namespace std _GLIBCXX_VISIBILITY(default) {  // NOLINT(cert-dcl58-cpp): as libstdc++ itself declares it
_GLIBCXX_BEGIN_NAMESPACE_VERSION
class stop_token;
_GLIBCXX_END_NAMESPACE_VERSION
}  // namespace std _GLIBCXX_VISIBILITY(default)
#else
#include <stop_token>
#endif

namespace sluice::lib {

class stop_signal {
 public:
  /// A stop that is never requested.
  stop_signal() noexcept;
  stop_signal(const std::stop_token& token) noexcept;  // NOLINT(google-explicit-constructor): is the same
  stop_signal(const stop_signal& other) noexcept;
  stop_signal& operator=(const stop_signal& other) noexcept;
  ~stop_signal();

  bool stop_requested() const noexcept;
  /// Returns false if no stop has been requested, and none can be.
  bool stop_possible() const noexcept;
  operator const std::stop_token&() const noexcept;  // NOLINT(google-explicit-constructor)

 private:
  alignas(void*) std::byte token_[sizeof(void*)];
};

namespace detail {

/// Calls a function of an object when a stop is requested: a std::stop_callback that can be armed later.
class stop_hook {
 public:
  using function = void (*)(void* self) noexcept;

  stop_hook() noexcept = default;
  stop_hook(const stop_hook&) = delete;
  stop_hook& operator=(const stop_hook&) = delete;
  ~stop_hook() { disarm(); }
  /// Registers `f(self)`, which is called once, on the thread that requests the stop. If the stop was requested
  /// already, it is called within this call. Does nothing if a stop is not possible. REQUIRES: not armed.
  void arm(const stop_signal& stop, function f, void* self);
  /// After this call `f` is not running and will not be called any more. Blocks while `f` runs on another thread. A
  /// call from within `f` returns at once. REQUIRES: the caller holds no lock that `f` acquires.
  void disarm() noexcept {
    if (is_armed_) remove();
  }

 private:
  void remove() noexcept;

  bool is_armed_ = false;
  alignas(void*) std::byte callback_[10 * sizeof(void*)];  ///< a std::stop_callback, while it is armed
};

}  // namespace detail

}  // namespace sluice::lib
