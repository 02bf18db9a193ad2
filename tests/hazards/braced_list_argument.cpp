// SPDX-License-Identifier: Apache-2.0
// A braced list for a std::vector or initializer_list argument inside co_await: g++ 12.2 refuses to compile it.
#include <vector>

#include "trace.hpp"

lazy<int> total(std::vector<int> v) {
  int sum = 0;
  for (int x : v) sum += x;
  co_return sum;
}

lazy<int> body() {
#ifdef SAFE
  std::vector<int> named{20, 22};
  int got = co_await total(std::move(named));
#else
  int got = co_await total({20, 22});
#endif
  co_return got;
}

int main() {
  int got;
  {
    auto t = body();
    got = t.run();
  }
  return verdict(got == 42, "wrong sum");
}
