// SPDX-License-Identifier: Apache-2.0
// `if (co_await x)` in a coroutine that declares no local: g++ 12.2 never runs the body, or crashes (PR 106188).
#include "trace.hpp"

int ran = 0;
lazy<bool> yes() { co_return true; }

#ifdef SAFE
lazy<bool> body() {
  bool go = co_await yes();
  if (go) ++ran;
  co_return true;
}
#else
lazy<bool> body() {
  if (co_await yes()) ++ran;
  co_return true;
}
#endif

int main() {
  {
    auto t = body();
    t.run();
  }
  return verdict(ran == 1, "the body of the if did not run");
}
