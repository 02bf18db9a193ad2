// SPDX-License-Identifier: Apache-2.0
// The address of a thread_local must not be kept across a suspension point that changes threads. clang 14 kept it (LLVM
// 47179); ours does not, and the library puts every thread_local behind a call that cannot be inlined all the same.
#include <thread>

#include "trace.hpp"

thread_local int mark = 0;
std::coroutine_handle<> parked;
struct park {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> h) { parked = h; }
  void await_resume() {}
};

lazy<int> body() {
  mark = 1;
  park move_over;
  co_await move_over;
  mark = 2;
  int got = mark;
  co_return got;
}

int main() {
  auto t = body();
  t.handle.resume();
  int there = 0;
  std::thread other([&] {
    parked.resume();
    there = mark;
  });
  other.join();
  return verdict(there == 2 && mark == 1, "the write went to the old thread's variable");
}
