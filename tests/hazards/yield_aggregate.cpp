// SPDX-License-Identifier: Apache-2.0
// co_yield of an aggregate temporary: destroyed twice by g++ 12.2 (compare PR 101367). So is `T(…)`, not only `T{…}`.
#include "trace.hpp"

struct sample {
  counted a;
  counted b;
};
#ifdef SAFE
sample make(int i) { return {counted(i), counted(i + 1)}; }
#endif

generator<sample> body() {
  for (int i = 0; i < 3; ++i) {
#ifdef SAFE
    sample named{counted(i), counted(i + 1)};
    co_yield std::move(named);
    co_yield make(i);
#else
    co_yield sample{counted(i), counted(i + 1)};
#endif
  }
}

int main() {
  int sum = 0;
  {
    auto g = body();
    while (auto* s = g.next()) sum += s->a.value + s->b.value;
  }
#ifdef SAFE
  sum /= 2;
#endif
  return verdict(sum == 9 && lives == 0, "the yielded object was destroyed twice");
}
