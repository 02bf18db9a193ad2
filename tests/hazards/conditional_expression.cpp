// SPDX-License-Identifier: Apache-2.0
// A class-type ?: with a co_await in one branch destroys twice, even when the other branch is taken.
#include "trace.hpp"

struct text {
  counted part;
};
lazy<int> number() { co_return 5; }

lazy<int> body(bool flag) {
#ifdef SAFE
  int n = 6;
  if (flag) {
    int awaited = co_await number();
    n = awaited;
  }
  text t{counted(n)};
#else
  text t = flag ? text{counted(co_await number())} : text{counted(6)};
#endif
  co_return t.part.value;
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
  return verdict(yes == 5 && no == 6 && lives == 0, "a branch was destroyed twice");
}
