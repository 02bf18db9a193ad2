// SPDX-License-Identifier: Apache-2.0
// A million awaits that finish at once. Symmetric transfer must be a tail call, or each costs stack (PR 94794, 100897):
// g++ makes it one only with -foptimize-sibling-calls, which it has at -O2 and which the build adds everywhere.
#include "trace.hpp"

lazy<int> one() { co_return 1; }

lazy<long> body() {
  long sum = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    int got = co_await one();
    sum += got;
  }
  co_return sum;
}

int main() {
  long got;
  {
    auto t = body();
    got = t.run();
  }
  return verdict(got == 1'000'000, "wrong sum");
}
