// SPDX-License-Identifier: Apache-2.0
// An asynchronous call of asio that is awaited until a deadline.
//
// The state is reference-counted and not part of the frame, because a message of the stop or of the deadline's timer
// may reach the asio thread after the operation has ended and its coroutine was resumed. Only the asio thread uses it
// between start and hand-back, so start, completion, stop and deadline need no lock. The coroutine is resumed after
// asio has released the bytes, however the wait ends. A call that asio cannot end and that uses none of the caller's
// bytes (a look-up) is abandoned.
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <functional>
#include <memory>

#include "sluice/coro/stop_token.hpp"
#include "sluice/io/deadline.hpp"

namespace sluice::lib {

struct socket_state {
  asio::cancellation_signal cancel;
  bool started = false;
  bool stopped = false;  ///< a stop was requested, possibly before the call began
  bool late = false;     ///< the deadline has passed
  bool over = false;     ///< the outcome is known
  bool can_be_left = false;
  promise_base* promise = nullptr;
  std::coroutine_handle<> handle;
  detail::stop_hook* hook = nullptr;
  std::string what;  ///< for messages: "127.0.0.1:80: connect"
  std::size_t bytes = 0;
  bool ended = false;  ///< end of file is a result, not an error
  asio::error_code outcome;

  /// A deadline's timer. While it is armed it shares the state, and points to the clock.
  struct deadline_timer : timer_node {
    std::shared_ptr<socket_state> of;
    asio::io_context* io = nullptr;
    clock* time = nullptr;
  };
  deadline_timer timer;

  void start(const std::function<void(const std::shared_ptr<socket_state>&)>& begin,
             const std::shared_ptr<socket_state>& self);
  /// Ends the call after a stop or the deadline, as soon as asio releases it.
  void give_up();
  /// Stores the first outcome and resumes the waiter, unless a timer that is firing will do so.
  void finish(asio::error_code e, std::size_t n);

 private:
  static void on_deadline(timer_node& node) noexcept;
  void hand_back();
  friend class socket_operation;
};

class [[nodiscard]] socket_operation {
 public:
  /// `start(state)` runs on the asio thread. It begins the call, whose completion calls state->finish().
  using starter = std::function<void(const std::shared_ptr<socket_state>&)>;
  socket_operation(asio::io_context& io, std::string what, starter start, time_point deadline)
      : io_(io), start_(std::move(start)), state_(std::make_shared<socket_state>()) {
    state_->what = std::move(what);
    state_->timer.due = deadline;
  }
  /// Declares that the call uses none of the caller's memory. If asio cannot end it, it continues alone, and its result
  /// is dropped.
  void can_be_left() noexcept { state_->can_be_left = true; }
  socket_operation(const socket_operation&) = delete;
  socket_operation& operator=(const socket_operation&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class Promise> void await_suspend(std::coroutine_handle<Promise> h) {
    state_->promise = &h.promise();
    state_->handle = h;
    state_->hook = &hook_;
    hook_.arm(h.promise().env->stop, &socket_operation::on_stop, this);
    arm(*h.promise().env->time);
    // The last statement: once asio has this message it may resume the coroutine.
    asio::post(io_, [start = std::move(start_), state = state_] { state->start(start, state); });
  }
  /// Returns the number of bytes moved; 0 at the end of the stream.
  std::size_t await_resume() const {
    state_->promise->throw_if_failed();
    return state_->ended ? 0 : state_->bytes;
  }

 private:
  static void on_stop(void* self) noexcept {
    auto& me = *static_cast<socket_operation*>(self);
    asio::post(me.io_, [state = me.state_] {
      state->stopped = true;
      state->give_up();
    });
  }
  void arm(clock& time) noexcept {
    auto& timer = state_->timer;
    if (timer.due == kNever) return;
    if (timer.due <= time.now()) {
      state_->late = true;
      return;
    }
    timer.fire = &socket_state::on_deadline;
    timer.of = state_;
    timer.io = &io_;
    timer.time = &time;
    time.arm(timer);
  }

  asio::io_context& io_;
  starter start_;
  std::shared_ptr<socket_state> state_;
  detail::stop_hook hook_;
};

/// Returns the completion handler of a call for `state`.
inline auto completion_of(const std::shared_ptr<socket_state>& state) {
  auto finish = [state](asio::error_code e, auto... n) {
    std::size_t bytes = 0;
    if constexpr (sizeof...(n) == 1 && (std::is_integral_v<decltype(n)> && ...)) bytes = (n + ...);
    state->finish(e, bytes);
  };
  return asio::bind_cancellation_slot(state->cancel.slot(), finish);
}

}  // namespace sluice::lib
