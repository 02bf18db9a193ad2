// SPDX-License-Identifier: Apache-2.0
#include "runtime/small_mutex.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <thread>
#include <vector>

namespace sluice::lib::small_mutex_test {

TEST_CASE("a small mutex: one thread at a time, and no thread waits for ever") {
  static_assert(sizeof(small_mutex) == 4);
  constexpr int kThreads = 8;
  constexpr std::uint64_t kEach = 20'000;
  small_mutex mutex;
  std::uint64_t sum = 0, inside = 0, together = 0;  // of the mutex
  std::vector<std::jthread> threads;
  for (int t = 0; t != kThreads; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i != kEach; ++i) {
        small_lock lock(mutex);
        together += inside != 0;
        ++inside;
        ++sum;
        if (i % 64 == 0) std::this_thread::yield();  // so that others meet the lock
        --inside;
      }
    });
  threads.clear();
  CHECK(sum == kThreads * kEach);
  CHECK(together == 0);
}

}  // namespace sluice::lib::small_mutex_test
