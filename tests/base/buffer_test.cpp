// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/buffer.hpp"

#include <catch2/catch.hpp>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/memory/recycling.hpp"
#include "support/process_memory.hpp"

namespace sluice::lib::buffer_test {

namespace {

struct counting_account final : byte_account {
  std::atomic<std::size_t> released{0};
  std::atomic<int> references{0};
  void release(std::size_t bytes) noexcept override { released += bytes; }
  void retain() noexcept override { ++references; }
  void unretain() noexcept override { --references; }
};

}  // namespace

TEST_CASE("a large buffer comes back from the pool") {
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
  buffer::trim();
  CHECK(buffer::parked_bytes() == 0);
}

TEST_CASE("a small buffer takes hardly more than was asked for, and comes back to its thread") {
  buffer::trim();
  for (std::size_t bytes = 0; bytes <= buffer::kSmallBytesMax; bytes += bytes < 5000 ? 1 : 97) {
    CAPTURE(bytes);
    buffer* b = buffer::make_exact(bytes);
    REQUIRE(b->capacity() >= bytes);
    REQUIRE(b->capacity() <= bytes + std::max<std::size_t>(16, bytes / 16));
    REQUIRE(reinterpret_cast<std::uintptr_t>(b->data()) % 16 == 0);
    std::memset(b->data(), 1, b->capacity());
    REQUIRE(b->unshared());
    b->drop_references(1);
    if (!kRecycles) continue;
    buffer* again = buffer::make_exact(bytes);
    REQUIRE(again == b);
    REQUIRE(again->unshared());
    again->drop_references(1);
  }
  CHECK(buffer::parked_bytes() <= 2 * buffer::kParkedBytesMax);
  buffer::trim();
  CHECK(buffer::parked_bytes() == 0);
}

TEST_CASE("one thread makes small buffers and another drops them: their memory goes round") {
  if (!kRecycles) return;
  buffer::trim();
  constexpr int kRounds = 400, kEach = 500;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<buffer*> made;
  std::set<buffer*> seen;
  bool ended = false;
  counting_account account;
  std::thread consumer([&] {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return ended || !made.empty(); });
      if (made.empty()) return;
      for (buffer* b : made) b->drop_references(1);
      made.clear();
      changed.notify_all();
    }
  });
  for (int round = 0; round != kRounds; ++round) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return made.empty(); });
    for (int i = 0; i != kEach; ++i) {
      buffer* b = buffer::make_exact(100 + static_cast<std::size_t>(i) % 64);
      if (i % 3 == 0) b->charge(&account, 7);
      seen.insert(b);
      made.push_back(b);
    }
    changed.notify_all();
  }
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return made.empty(); });
    ended = true;
    changed.notify_all();
  }
  consumer.join();
  CHECK(seen.size() < 4 * kEach + (std::size_t{2} << 20) / 100);  // what is kept, in bytes, of 200,000 buffers
  CHECK(account.released == kRounds * ((kEach + 2) / 3) * 7);
  CHECK(account.references == 0);
  buffer::trim();
  CHECK(buffer::parked_bytes() == 0);
}

TEST_CASE("the memory that threads cache for small buffers is bounded and freed with them") {
  buffer::trim();
  std::thread([] {
    std::vector<buffer_ref> held;
    for (std::size_t i = 0; i != 100'000; ++i) held.emplace_back(buffer::make_exact(i % 2'000));
    held.clear();
    CHECK(buffer::parked_bytes() <= (std::size_t{2} << 20) + buffer::kParkedBytesMax);
  }).join();
  CHECK(buffer::parked_bytes() <= std::size_t{1} << 20);  // in common
  buffer::trim();
  CHECK(buffer::parked_bytes() == 0);
}

TEST_CASE("a long-lived buffer uses no more memory than requested") {
  buffer_ref b(buffer::make_exact(40'000));
  CHECK(b->capacity() == 40'000);
  buffer_ref pages(buffer::make_exact(300'000));
  CHECK(pages->capacity() >= 300'000);
  CHECK(pages->capacity() < 340'000);
}

TEST_CASE("large buffers leave the process when they are dropped") {
  if (testing::kSanitized) return;  // the sanitizer keeps what is freed
  auto resident_bytes = [] { return testing::memory_line("VmRSS"); };
  buffer::trim();
  std::size_t before = resident_bytes();
  for (int round = 0; round != 3; ++round) {
    std::vector<buffer_ref> held;
    for (int i = 0; i != 10; ++i) {
      held.emplace_back(buffer::make(std::size_t{10} << 20));
      std::memset(held.back()->data(), 1, held.back()->capacity());
    }
    CHECK(resident_bytes() >= before + (std::size_t{100} << 20));
    std::swap(held[0], held[9]);
    held.resize(1, buffer_ref());  // one that stays, where malloc would keep all below it
    CHECK(resident_bytes() <= before + (std::size_t{10 + 16 + 4} << 20));
  }
  buffer::trim();
  CHECK(resident_bytes() <= before + (std::size_t{4} << 20));
}

TEST_CASE("the unused pages of a large buffer are returned before the buffer is freed") {
  if (testing::kSanitized) return;  // mapped by the sanitizer
  constexpr std::size_t kMiB = 1 << 20;
  for (std::size_t bytes : {64 * kMiB, 2 * kMiB}) {
    buffer_ref b(buffer::make(bytes));
    std::memset(b->data(), 1, b->capacity());
    std::size_t before = testing::memory_line("VmRSS");
    for (std::size_t at = 0; at != bytes / 2; at += kMiB / 2) b->forget(at, at + kMiB / 2);
    std::size_t after = testing::memory_line("VmRSS");
    if (bytes == 64 * kMiB) CHECK(after + 31 * kMiB <= before);
    else CHECK(b->data()[kMiB / 2] == 1);  // it will be used again
    CHECK(b->data()[bytes / 2] == 1);
  }
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

TEST_CASE("the account is credited once, by the last reference on any thread") {
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

}  // namespace sluice::lib::buffer_test
