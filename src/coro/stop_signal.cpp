// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/stop_signal.hpp"

#include <new>
#include <stop_token>

#include "sluice/base/assert.hpp"
#include "sluice/base/status.hpp"
#include "sluice/coro/environment.hpp"

namespace sluice::lib {
namespace {

const std::stop_token& token_at(const std::byte* room) noexcept {
  return *std::launder(reinterpret_cast<const std::stop_token*>(room));
}

}  // namespace

status environment::stop_error() const {
  if (!is_homeless.load(std::memory_order_relaxed)) return cancelled_error();
  return cancelled_error(
      "stopped: the runtime of this stream is destroyed; keep the runtime until its streams are read");
}

stop_signal::stop_signal() noexcept : stop_signal(std::stop_token()) {}

stop_signal::stop_signal(const std::stop_token& token) noexcept {
  static_assert(sizeof(std::stop_token) == sizeof token_ && alignof(std::stop_token) <= alignof(void*));
  ::new (static_cast<void*>(token_)) std::stop_token(token);
}

stop_signal::stop_signal(const stop_signal& other) noexcept : stop_signal(token_at(other.token_)) {}

stop_signal& stop_signal::operator=(const stop_signal& other) noexcept {
  std::stop_token copy = other;
  std::launder(reinterpret_cast<std::stop_token*>(token_))->swap(copy);
  return *this;
}

stop_signal::~stop_signal() { std::launder(reinterpret_cast<std::stop_token*>(token_))->~stop_token(); }

bool stop_signal::stop_requested() const noexcept { return token_at(token_).stop_requested(); }

bool stop_signal::stop_possible() const noexcept { return token_at(token_).stop_possible(); }

stop_signal::operator const std::stop_token&() const noexcept { return token_at(token_); }

namespace detail {
namespace {

struct hooked_call {
  stop_hook::function call;
  void* self;
  void operator()() const noexcept { call(self); }
};
using callback = std::stop_callback<hooked_call>;

}  // namespace

void stop_hook::arm(const stop_signal& stop, function f, void* self) {
  SLUICE_REQUIRES(!is_armed_, "a hook is armed twice");
  static_assert(sizeof(callback) <= sizeof callback_ && alignof(callback) <= alignof(void*));
  if (!stop.stop_possible()) return;
  const std::stop_token& token = stop;
  ::new (static_cast<void*>(callback_)) callback(token, hooked_call{f, self});
  is_armed_ = true;
}

void stop_hook::remove() noexcept {
  is_armed_ = false;
  std::launder(reinterpret_cast<callback*>(callback_))->~callback();
}

}  // namespace detail
}  // namespace sluice::lib
