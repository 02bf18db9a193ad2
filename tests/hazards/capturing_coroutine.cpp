// SPDX-License-Identifier: Apache-2.0
// A lambda that is a coroutine keeps its captures in the closure, not in its frame: the frame outlives them. This is the
// language, not a compiler (CP.51); run under AddressSanitizer, which sees it.
#include <memory>

#include "trace.hpp"

lazy<int> start() {
  auto owned = std::make_unique<int>(42);
#ifdef SAFE
  auto f = [](std::unique_ptr<int> mine) -> lazy<int> { co_return *mine; };
  return f(std::move(owned));
#else
  auto closure = [held = std::move(owned)]() -> lazy<int> { co_return *held; };
  auto on_heap = std::make_unique<decltype(closure)>(std::move(closure));
  return (*on_heap)();
#endif
}

int main() {
  int got;
  {
    auto t = start();
    got = t.run();
  }
  return verdict(got == 42, "the capture was gone");
}
