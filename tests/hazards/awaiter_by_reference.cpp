// SPDX-License-Identifier: Apache-2.0
// operator co_await that returns an lvalue reference: g++ 12.2 copies the awaiter and calls the copy (compare PR 104872).
#include "trace.hpp"

struct awaiter {
  const awaiter* born = this;
  const awaiter* seen = nullptr;
  bool await_ready() {
    seen = this;
    return true;
  }
  void await_suspend(std::coroutine_handle<>) {}
  bool await_resume() { return seen == born; }
};

struct source {
  awaiter inner;
#ifdef SAFE
  struct by_value {
    awaiter* at;
    bool await_ready() { return at->await_ready(); }
    void await_suspend(std::coroutine_handle<>) {}
    bool await_resume() { return at->await_resume(); }
  };
  by_value operator co_await() { return {&inner}; }
#else
  awaiter& operator co_await() { return inner; }
#endif
};

lazy<bool> body() {
  source s;
  bool same = co_await s;
  co_return same;
}

int main() {
  bool same;
  {
    auto t = body();
    same = t.run();
  }
  return verdict(same, "the awaiter was copied");
}
