// SPDX-License-Identifier: Apache-2.0
// Once a run is under way, elements cost no allocation.
//
// Not under sanitizers: they come with an operator new of their own, which ours would meet when the program is linked.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLUICE_TEST_SANITIZED 1
#endif
#endif
#ifndef SLUICE_TEST_SANITIZED
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"

namespace sluice::lib {
namespace {

using int64 = std::int64_t;

std::atomic<std::uint64_t> allocations{0};

stream<int64> plus_one(stateless, stream<int64> in) {
  while (auto x = co_await in.next()) {
    int64 element = *x;
    co_yield element + 1;
  }
}

/// How many allocations 200,000 elements cost, after as many to warm up.
task<std::uint64_t> allocations_per_200k(runtime& rt, dataset<int64> ds) {
  constexpr int kElements = 200'000;
  auto s = ds.iterate(rt);
  std::uint64_t before = 0;
  int64 sum = 0;
  for (int i = 0; i != 2 * kElements; ++i) {
    if (i == kElements) before = allocations.load();
    auto x = co_await s.next();
    sum += *x;
  }
  std::uint64_t after = allocations.load();
  if (sum == 42) before = 0;  // the elements are looked at
  co_return after - before;
}

}  // namespace
}  // namespace sluice::lib

// They only count, and replace the global ones in this test program. Inlined, g++ takes new and free for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  sluice::lib::allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(size ? size : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  sluice::lib::allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size ? size : 1);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace sluice::lib {

// A mark is due every thousand blocks of a thousand elements: none falls into the elements counted.
TEST_CASE("range, map, filter and map allocate nothing per element") {
  runtime rt({.workers = 1});
  auto ds = range(1'000'000'000) | map([](int64 x) { return x * 3; }) | filter([](int64 x) { return x % 2 == 0; }) |
            map([](int64 x) { return x + 1; });
  CHECK(sync_wait(rt, allocations_per_200k(rt, ds)) <= 10);
}

TEST_CASE("a user's stage allocates nothing per element") {
  runtime rt({.workers = 1});
  auto ds = range(1'000'000'000) | transform([](stream<int64> s) { return plus_one(stateless(), std::move(s)); });
  CHECK(sync_wait(rt, allocations_per_200k(rt, ds)) <= 10);
}

}  // namespace sluice::lib
#endif  // SLUICE_TEST_SANITIZED
