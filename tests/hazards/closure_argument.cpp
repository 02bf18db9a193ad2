// SPDX-License-Identifier: Apache-2.0
// A closure that captures by value, made inside a co_await expression, is destroyed twice by g++ 12.2 (PR 99576).
#include "trace.hpp"

template <class F> lazy<int> call(F f) { co_return f(); }

lazy<int> body() {
  counted owned(7);
#ifdef SAFE
  auto f = [owned] { return owned.value; };
  int got = co_await call(std::move(f));
#else
  int got = co_await call([owned] { return owned.value; });
#endif
  co_return got;
}

int main() {
  int got;
  {
    auto t = body();
    got = t.run();
  }
  return verdict(got == 7 && lives == 0, "the captured object was destroyed twice");
}
