// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/buffer.hpp"

#include <catch2/catch.hpp>

#include <thread>
#include <vector>

using namespace sluice::lib;

namespace {

struct counting_account final : byte_account {
  std::atomic<std::size_t> released{0};
  std::atomic<int> references{0};
  void release(std::size_t bytes) noexcept override { released += bytes; }
  void retain() noexcept override { ++references; }
  void unretain() noexcept override { --references; }
};

}  // namespace

TEST_CASE("a large buffer comes back from the pool, a small one does not go there") {
  buffer::trim();
  buffer* b = buffer::make(200'000);
  CHECK(b->capacity() == 262'144);
  CHECK(reinterpret_cast<std::uintptr_t>(b->data()) % buffer::kAlignment == 0);
  b->drop_references(1);
  CHECK(buffer::parked_bytes() == 262'144);
  buffer* again = buffer::make(262'144);
  CHECK(again == b);
  CHECK(again->unshared());
  again->drop_references(1);
  buffer* small = buffer::make(100);
  CHECK(small->capacity() == 100);
  small->drop_references(1);
  CHECK(buffer::parked_bytes() == 262'144);
  buffer::trim();
  CHECK(buffer::parked_bytes() == 0);
}

TEST_CASE("the pool is bounded") {
  std::vector<buffer_ref> held;
  for (std::size_t bytes = 0; bytes <= buffer::kParkedBytesMax + (8u << 20); bytes += 4u << 20)
    held.emplace_back(buffer::make(4u << 20));
  held.clear();
  CHECK(buffer::parked_bytes() <= buffer::kParkedBytesMax);
  CHECK(buffer::parked_bytes() > buffer::kParkedBytesMax / 2);
  buffer::trim();
}

TEST_CASE("the account is credited once, by the last reference on whatever thread") {
  counting_account account;
  buffer* b = buffer::make(1 << 20);
  b->charge(&account, b->capacity());
  CHECK(account.references == 1);
  constexpr std::uint32_t kThreads = 4, kEach = 1000;
  b->add_references(kThreads * kEach);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t != kThreads; ++t)
    threads.emplace_back([b] {
      for (std::uint32_t i = 0; i != kEach; i += 10) b->drop_references(10);
    });
  for (auto& t : threads) t.join();
  CHECK(account.released == 0);
  CHECK(b->unshared());
  b->drop_references(1);
  CHECK(account.released == 1 << 20);
  CHECK(account.references == 0);
  buffer_ref next(buffer::make(1 << 20));  // the same block, charged to nobody
  next = buffer_ref();
  CHECK(account.released == 1 << 20);
}
