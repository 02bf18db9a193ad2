// SPDX-License-Identifier: Apache-2.0
// A class-type ?: as an argument of what a co_await awaits destroys a branch that was not taken.
#include "trace.hpp"

lazy<int> value_of(counted c) { co_return c.value; }

lazy<int> body(bool flag) {
  counted held(5);
#ifdef SAFE
  counted chosen = flag ? counted(6) : held;
  int got = co_await value_of(std::move(chosen));
#else
  int got = co_await value_of(flag ? counted(6) : held);
#endif
  co_return got;
}

int main() {
  int yes, no;
  {
    auto t = body(true);
    yes = t.run();
  }
  {
    auto t = body(false);
    no = t.run();
  }
  return verdict(yes == 6 && no == 5 && lives == 0, "a branch was destroyed twice");
}
