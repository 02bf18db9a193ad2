// SPDX-License-Identifier: Apache-2.0
// The credit of a stream of frames: how many bytes a writer may still send.
//
//   credit_gate gate(options.credit_bytes);
//   bool open = co_await gate.take(credit_of(frame));    // waits; false: the gate was closed
//   gate.give(bytes);                                    // the reader has taken frames
//
// A reader returns credit when it owes a quarter of it. A frame therefore needs at most three quarters: it would
// otherwise wait for a quarter that is never returned.
// Order:  first in, first out.
// Errors: `cancelled`, after a stop.
// Thread: any.
#pragma once

#include <algorithm>

#include "sluice/coro/detail/waiter.hpp"
#include "sluice/io/transport.hpp"

namespace sluice::lib {

inline std::size_t credit_of(std::size_t frame_bytes) noexcept { return frame_bytes + kFrameOverheadBytes; }

class credit_gate {
 public:
  explicit credit_gate(std::size_t total) noexcept
      : total_(static_cast<std::int64_t>(total)), available_(static_cast<std::int64_t>(total)) {}
  /// The credit that a reader may owe before it must return it.
  static std::size_t may_owe(std::size_t total) noexcept { return total / 4; }

  class take_awaiter;
  [[nodiscard]] take_awaiter take(std::size_t bytes);
  /// Returns credit; never more than was taken.
  void give(std::size_t bytes) noexcept;
  /// Ends all waits, and later ones.
  void close() noexcept;

 private:
  bool fits(std::int64_t bytes) const noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return available_ >= std::min(bytes, total_ - total_ / 4);
  }
  void admit(detail::wake_list& woken) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutex mutex_;
  const std::int64_t total_;
  std::int64_t available_ ABSL_GUARDED_BY(mutex_);  ///< below 0 while a frame larger than the credit is on its way
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  detail::waiter_list waiting_ ABSL_GUARDED_BY(mutex_);
};

class [[nodiscard]] credit_gate::take_awaiter final : detail::waiter {
 public:
  take_awaiter(credit_gate& g, std::size_t bytes) noexcept : gate_(g), bytes_(static_cast<std::int64_t>(bytes)) {}
  ~take_awaiter() { abandon(); }

  bool await_ready() {
    detail::waking_lock lock(gate_.mutex_);
    return attempt_now() == detail::attempt::done;
  }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return wait(h, gate_.mutex_, gate_.waiting_,
                [this](detail::wake_list&) ABSL_EXCLUSIVE_LOCKS_REQUIRED(gate_.mutex_) { return attempt_now(); });
  }
  bool await_resume() const {
    throw_if_failed();
    return taken_;
  }

 private:
  friend class credit_gate;
  detail::attempt attempt_now() ABSL_EXCLUSIVE_LOCKS_REQUIRED(gate_.mutex_);
  void left(detail::wake_list& woken) noexcept override ABSL_EXCLUSIVE_LOCKS_REQUIRED(gate_.mutex_) {
    gate_.admit(woken);
  }

  credit_gate& gate_;
  std::int64_t bytes_;
  bool taken_ = false;
};

inline credit_gate::take_awaiter credit_gate::take(std::size_t bytes) { return {*this, bytes}; }

}  // namespace sluice::lib
