// SPDX-License-Identifier: Apache-2.0
// One asynchronous call of asio, awaited.
//
// The state is counted, not in the frame: the stop's message to the asio thread may arrive after the operation has
// ended and its coroutine has gone on. Only the asio thread touches it, from the start to the hand-back, so the three
// who may want it (start, completion, stop) need no lock. The coroutine is resumed only after asio has let go of the
// bytes, stopped or not.
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

namespace sluice::lib {

struct socket_state {
  asio::cancellation_signal cancel;
  bool stopped = false;  ///< a stop asked for it, maybe before it began
  bool over = false;
  promise_base* promise = nullptr;
  std::coroutine_handle<> handle;
  detail::stop_hook* hook = nullptr;
  std::string what;  ///< for messages: "127.0.0.1:80: connect"
  std::size_t bytes = 0;
  bool ended = false;  ///< end of file is an answer, not an error

  void finish(asio::error_code e, std::size_t n);
};

class [[nodiscard]] socket_operation {
 public:
  /// `start(state)` runs on the asio thread; it begins the call, whose completion calls state->finish().
  using starter = std::function<void(const std::shared_ptr<socket_state>&)>;
  socket_operation(asio::io_context& io, std::string what, starter start)
      : io_(io), start_(std::move(start)), state_(std::make_shared<socket_state>()) {
    state_->what = std::move(what);
  }
  socket_operation(const socket_operation&) = delete;
  socket_operation& operator=(const socket_operation&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class Promise> void await_suspend(std::coroutine_handle<Promise> h) {
    state_->promise = &h.promise();
    state_->handle = h;
    state_->hook = &hook_;
    hook_.arm(h.promise().env->stop, &socket_operation::on_stop, this);
    // Last: from here on the asio thread may resume us.
    asio::post(io_, [start = std::move(start_), state = state_] {
      if (state->stopped) state->finish(asio::error::operation_aborted, 0);
      else start(state);
    });
  }
  /// Bytes moved; 0 at the end of the stream.
  std::size_t await_resume() const {
    state_->promise->throw_if_failed();
    return state_->ended ? 0 : state_->bytes;
  }

 private:
  static void on_stop(void* self) noexcept {
    auto& me = *static_cast<socket_operation*>(self);
    asio::post(me.io_, [state = me.state_] {
      state->stopped = true;
      if (!state->over) state->cancel.emit(asio::cancellation_type::terminal);
    });
  }

  asio::io_context& io_;
  starter start_;
  std::shared_ptr<socket_state> state_;
  detail::stop_hook hook_;
};

/// The completion handler for a call on behalf of `state`.
inline auto completion_of(const std::shared_ptr<socket_state>& state) {
  auto finish = [state](asio::error_code e, auto... n) {
    std::size_t bytes = 0;
    if constexpr (sizeof...(n) == 1 && (std::is_integral_v<decltype(n)> && ...)) bytes = (n + ...);
    state->finish(e, bytes);
  };
  return asio::bind_cancellation_slot(state->cancel.slot(), finish);
}

}  // namespace sluice::lib
