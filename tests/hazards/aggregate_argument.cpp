// SPDX-License-Identifier: Apache-2.0
// An aggregate with a member that has a destructor, made inside a co_await expression (PR 100611): destroyed twice.
#include "trace.hpp"

struct options {
  counted path;
  int count;
};
lazy<int> open(options o) { co_return o.path.value + o.count; }

lazy<int> body() {
#ifdef SAFE
  options named{counted(40), 2};
  int got = co_await open(std::move(named));
#else
  int got = co_await open(options{counted(40), 2});
#endif
  co_return got;
}

int main() {
  int got;
  {
    auto t = body();
    got = t.run();
  }
  return verdict(got == 42 && lives == 0, "the member was destroyed twice");
}
