// SPDX-License-Identifier: Apache-2.0
// What Catch2's REQUIRE does with its argument: __builtin_constant_p must not evaluate it, but inside a coroutine g++
// 12.2 has already hoisted the co_await out. REQUIRE(co_await f()) thus runs f three times (Catch2#2925).
#include "trace.hpp"

#define LIKE_REQUIRE(...)                    \
  do {                                       \
    (void)__builtin_constant_p(__VA_ARGS__); \
    if (!(__VA_ARGS__)) std::abort();        \
  } while ((void)0, (false) && static_cast<bool>(!!(__VA_ARGS__)))

int calls = 0;
lazy<bool> asked() {
  ++calls;
  co_return true;
}

lazy<int> body() {
  int before = calls;
#ifdef SAFE
  bool got = co_await asked();
  LIKE_REQUIRE(got);
#else
  LIKE_REQUIRE(co_await asked());
#endif
  co_return calls - before;
}

int main() {
  int ran;
  {
    auto t = body();
    ran = t.run();
  }
  return verdict(ran == 1, "the awaited expression was evaluated more than once");
}
