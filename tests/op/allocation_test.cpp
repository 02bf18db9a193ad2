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
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <string_view>
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

struct sample {
  std::string text;  // short: kept inside the string, so that making one costs none
  int64 label = 0;
  std::array<float, 4> v{};
  std::optional<double> weight;
};
sample make_sample(int64 x) {
  sample s;
  s.text.assign(static_cast<std::size_t>(x % 15), 'a');
  s.label = x;
  if (x % 3 == 0) s.weight = 0.5;
  return s;
}

/// How many allocations `count` batches cost, after as many to warm up; the consumer drops each when it takes the next.
task<std::uint64_t> allocations_of_batches(runtime& rt, dataset<batched<sample>> ds, int count) {
  auto s = ds.iterate(rt);
  std::uint64_t before = 0, texts = 0;
  for (int i = 0; i != 2 * count; ++i) {
    if (i == count) before = allocations.load();
    auto b = co_await s.next();
    for (std::string_view text : (*b)[&sample::text]) texts += text.size();
  }
  std::uint64_t after = allocations.load();
  if (texts == 42) before = 0;
  co_return after - before;
}

/// The same of rows that were in batches.
task<std::uint64_t> allocations_of_rows(runtime& rt, dataset<sample> ds, int count) {
  auto s = ds.iterate(rt);
  std::uint64_t before = 0;
  int64 sum = 0;
  for (int i = 0; i != 2 * count; ++i) {
    if (i == count) before = allocations.load();
    auto x = co_await s.next();
    sum += x->label;
  }
  std::uint64_t after = allocations.load();
  if (sum == 42) before = 0;
  co_return after - before;
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
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  sluice::lib::allocations.fetch_add(1, std::memory_order_relaxed);
  auto align = static_cast<std::size_t>(alignment);
  if (void* p = std::aligned_alloc(align, (size + align - 1) / align * align)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
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

TEST_CASE("batches allocate nothing per row, and nothing per batch once their memory is recycled") {
  runtime rt({.workers = 1});
  auto rows = range(1'000'000'000) | map(make_sample);
  for (int64 size : {10, 64, 1000}) {
    CAPTURE(size);
    int count = static_cast<int>(100'000 / size);
    CHECK(sync_wait(rt, allocations_of_batches(rt, rows | batch(size), count)) <= 10);
  }
  CHECK(sync_wait(rt, allocations_of_rows(rt, rows | batch(100) | unbatch(), 20'000)) <= 10);
}

}  // namespace sluice::lib
#endif  // SLUICE_TEST_SANITIZED
