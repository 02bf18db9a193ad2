// SPDX-License-Identifier: Apache-2.0
// base/memory/buffer_arena.hpp
#include "base/memory/buffer_arena.hpp"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::lib::buffer_arena_test {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 63, 64, 65, 1000, 4096, 100'000, std::size_t{500} << 10};

/// Buffers of several chunks, whose bytes are their numbers.
std::vector<buffer_ref> filled(buffer_arena& arena, std::size_t n) {
  std::vector<buffer_ref> all;
  for (std::size_t i = 0; i != n; ++i) {
    const std::size_t bytes = kSizes[i % std::size(kSizes)];
    if (!arena.has_room_for(buffer_arena::size_of(bytes))) arena.add_chunk();
    all.emplace_back(arena.make(bytes));
    REQUIRE(all.back()->capacity() >= bytes);
    std::memset(all.back()->data(), static_cast<int>(i % 251), all.back()->capacity());
  }
  return all;
}
bool has_number(const buffer_ref& b, std::size_t i) {
  for (std::size_t k = 0; k != b->capacity(); ++k)
    if (static_cast<unsigned char>(b->data()[k]) != i % 251) return false;
  return true;
}

}  // namespace

TEST_CASE("buffers of an arena are aligned, keep their bytes, and outlive the arena") {
  std::vector<buffer_ref> all;
  {
    buffer_arena arena;
    CHECK(!arena.has_room_for(0));
    all = filled(arena, 100);
  }
  for (std::size_t i = 0; i != all.size(); ++i) {
    CHECK(reinterpret_cast<std::uintptr_t>(all[i]->data()) % buffer::kAlignment == 0);
    CHECK(has_number(all[i], i));
    if (i % 2 == 0) all[i] = {};
  }
  for (std::size_t i = 1; i < all.size(); i += 2) CHECK(has_number(all[i], i));
}

TEST_CASE("buffers of an arena are freed on any thread, and are never recycled") {
  buffer_arena arena;
  std::vector<buffer_ref> all = filled(arena, 100);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k != 4; ++k)
    threads.emplace_back([&all, k] {
      for (std::size_t i = k; i < all.size(); i += 4) all[i] = {};
    });
  for (std::thread& t : threads) t.join();
  buffer_ref pooled(buffer::make_recycled(4096));
  std::memset(pooled->data(), 1, pooled->capacity());
  all = filled(arena, 10);
  std::memset(pooled->data(), 2, pooled->capacity());
  for (std::size_t i = 0; i != all.size(); ++i) CHECK(has_number(all[i], i));
}

}  // namespace sluice::lib::buffer_arena_test
