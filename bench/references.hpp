// SPDX-License-Identifier: Apache-2.0
// What the engine is measured against: the same chain as a hand-written loop, and as plain async generators.
#pragma once

#include <coroutine>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace sluice::lib::bench {

// The chain's functions: range | map(first) | filter(keeps) | map(second) | map(third).
inline constexpr auto first = [](std::int64_t x) { return x * 3 + 1; };
inline constexpr auto keeps = [](const std::int64_t& x) { return ((x ^ (x >> 7)) & 3) != 0; };
inline constexpr auto second = [](std::int64_t x) { return x ^ 0x55; };
inline constexpr auto third = [](std::int64_t x) { return x + (x >> 3); };

/// A one-element async generator, as small as it can be: symmetric transfer, the value in the promise, no errors.
class generator {
 public:
  struct promise_type {
    std::int64_t value = 0;
    bool done = false;
    std::coroutine_handle<> waiter;

    struct to_waiter {
      std::coroutine_handle<> waiter;
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept { return waiter; }
      void await_resume() const noexcept {}
    };
    generator get_return_object() { return generator(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    to_waiter final_suspend() noexcept {
      done = true;
      return {waiter};
    }
    to_waiter yield_value(std::int64_t x) noexcept {
      value = x;
      return {waiter};
    }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::abort(); }
  };

  explicit generator(std::coroutine_handle<promise_type> h) : handle_(h) {}
  generator(generator&& o) noexcept : handle_(std::exchange(o.handle_, {})) {}
  ~generator() {
    if (handle_) handle_.destroy();
  }

  struct next_awaiter {
    std::coroutine_handle<promise_type> h;
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) const noexcept {
      h.promise().waiter = waiter;
      return h;
    }
    std::int64_t* await_resume() const noexcept { return h.promise().done ? nullptr : &h.promise().value; }
  };
  next_awaiter next() { return {handle_}; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

/// Sum of the chain over [0, n), element by element through generators.
std::uint64_t chain_by_generators(std::int64_t n);
/// The same, each stage a loop that stores through one block of `block` elements.
std::uint64_t chain_by_hand(std::int64_t n, std::uint32_t block);

/// What the machine makes of the two things that coroutines are made of. Nanoseconds of the calling thread's CPU time.
struct machine_costs {
  double addition = 0;
  double indirect_jump = 0;  ///< alternating between two targets: where this is not predicted, every hop pays it
};
machine_costs measure_machine();

}  // namespace sluice::lib::bench
