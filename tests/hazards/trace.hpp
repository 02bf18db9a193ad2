// SPDX-License-Identifier: Apache-2.0
// What the hazard programs share: the smallest task and generator, and an object whose lives are counted.
// Deliberately not the library's own coroutines: these programs are about the compiler alone.
#pragma once

#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

inline int lives = 0;  ///< constructed minus destroyed: 0 at the end, negative after a double destroy

struct counted {
  int value = 0;
  explicit counted(int v) : value(v) { ++lives; }
  counted(const counted& o) : value(o.value) { ++lives; }
  counted(counted&& o) noexcept : value(std::exchange(o.value, -1)) { ++lives; }
  counted& operator=(const counted&) = default;
  ~counted() { --lives; }
};

template <class T> struct lazy {
  struct promise_type {
    T value{};
    std::coroutine_handle<> waiter = std::noop_coroutine();
    lazy get_return_object() { return lazy{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct leave {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
        return h.promise().waiter;
      }
      void await_resume() noexcept {}
    };
    leave final_suspend() noexcept { return {}; }
    void return_value(T v) { value = std::move(v); }
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
  explicit lazy(std::coroutine_handle<promise_type> h) : handle(h) {}
  lazy(lazy&& o) noexcept : handle(std::exchange(o.handle, {})) {}
  ~lazy() {
    if (handle) handle.destroy();
  }

  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) {
    handle.promise().waiter = h;
    return handle;
  }
  T await_resume() { return std::move(handle.promise().value); }
  T run() {
    handle.resume();
    return std::move(handle.promise().value);
  }
};

template <class T> struct generator {
  struct promise_type {
    T* value = nullptr;
    generator get_return_object() { return generator{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(T&& v) {
      value = &v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
  explicit generator(std::coroutine_handle<promise_type> h) : handle(h) {}
  generator(generator&& o) noexcept : handle(std::exchange(o.handle, {})) {}
  ~generator() {
    if (handle) handle.destroy();
  }
  T* next() {
    handle.resume();
    return handle.done() ? nullptr : handle.promise().value;
  }
};

/// The program's answer, for hazards_test.py.
inline int verdict(bool correct, const char* what) {
  std::puts(correct ? "correct" : what);
  return correct ? 0 : 1;
}
