// SPDX-License-Identifier: Apache-2.0
// `while (auto x = co_await s.next())` declares its result, which is what makes the canonical loop safe without a local.
#include <optional>

#include "trace.hpp"

int left = 4, sum = 0;
lazy<std::optional<int>> next() { co_return left ? std::optional<int>(left--) : std::nullopt; }

lazy<int> body() {
  while (auto x = co_await next()) sum += *x;
  if (auto x = co_await next()) sum += 1000;
  co_return sum;
}

int main() {
  int got;
  {
    auto t = body();
    got = t.run();
  }
  return verdict(got == 10, "the loop did not run as written");
}
