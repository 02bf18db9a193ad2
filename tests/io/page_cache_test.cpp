// SPDX-License-Identifier: Apache-2.0
// open_options::cache: what a file's readers leave in the page cache, and that it changes nothing of what they read.
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <array>
#include <fstream>
#include <random>
#include <vector>

#include "io/each_backend.hpp"

namespace sluice::lib::page_cache_test {
using namespace sluice::lib::testing;

namespace {

constexpr std::array kAll = {page_cache::keep, page_cache::drop, page_cache::direct};

struct part {
  std::uint64_t offset;
  std::size_t bytes;
};

/// Reads all parts, one after the other, each into a buffer of its own at an odd place.
task<std::string> read_parts(file_system& files, std::string path, page_cache how, std::vector<part> parts) {
  open_options options;
  options.cache = how;
  auto opening = files.open(std::move(path), options);
  auto f = co_await opening;
  std::string got;
  for (part p : parts) {
    constexpr std::size_t kAt = 13;
    buffer_ref to(buffer::make(p.bytes + kAt));
    ready_read now = f->try_read_at(p.offset, to->data() + kAt, p.bytes);
    std::size_t n = now.bytes;
    if (n < p.bytes) {  // what does not wait may give less
      buffer_ref share = to;
      auto reading = f->read_at(p.offset + n, std::move(share), kAt + n, p.bytes - n);
      std::size_t more = co_await reading;
      n += more;
    }
    got.append(to->data() + kAt, n).append("|");
  }
  co_return std::move(got);
}

std::size_t resident_pages(const std::string& path, std::size_t bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  void* mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  REQUIRE(mapped != MAP_FAILED);
  std::vector<unsigned char> in_core((bytes + 4095) / 4096);
  REQUIRE(::mincore(mapped, bytes, in_core.data()) == 0);
  ::munmap(mapped, bytes);
  ::close(fd);
  std::size_t n = 0;
  for (unsigned char c : in_core) n += c & 1;
  return n;
}

bool is_in_memory(const std::string& path) {
  struct statfs home{};
  return ::statfs(path.c_str(), &home) != 0 || static_cast<std::uint32_t>(home.f_type) == TMPFS_MAGIC;
}

}  // namespace

TEST_CASE("a file reads alike with every use of the page cache: whole, in odd parts, at its end and beyond") {
  FOR_EACH_BACKEND(f);
  for (std::size_t size : {0u, 1u, 511u, 4096u, 4097u, 3'000'001u}) {
    const std::string bytes = random_bytes(size, 57);
    const std::string path = f.folder.write("a" + std::to_string(size), bytes);
    std::vector<part> parts = {{0, size + 10}, {size, 10}, {size / 2, 7}, {size + 5000, 5}};
    std::mt19937 random(1);
    for (int i = 0; i != 40; ++i)
      parts.push_back({random() % (size + 1), 1 + random() % (i % 4 ? 5'000u : 2'500'000u)});
    for (page_cache how : kAll)
      for (bool cold : {true, false}) {
        CAPTURE(size, static_cast<int>(how), cold);
        if (cold) evict(path);
        auto got = f.run(read_parts(*f.files, path, how, parts));
        REQUIRE(got.ok());
        std::string expected;
        for (part p : parts) expected += (p.offset < size ? bytes.substr(p.offset, p.bytes) : "") + "|";
        REQUIRE((*got == expected));
      }
  }
}

TEST_CASE("drop and direct leave next to nothing of a cold file in the page cache, and keep leaves it there") {
  FOR_EACH_BACKEND(f);
  constexpr std::size_t kBytes = 8 << 20, kPiece = 100'000;
  const std::string path = f.folder.write("a", random_bytes(kBytes, 58));
  if (is_in_memory(path)) {
    WARN("the temporary folder is in memory: nothing of it is cached");
    return;
  }
  std::vector<part> parts;
  for (std::size_t at = 0; at < kBytes; at += kPiece) parts.push_back({at, kPiece});
  for (page_cache how : kAll) {
    evict(path);
    if (resident_pages(path, kBytes) > 100) {
      WARN("this file system keeps its pages");
      return;
    }
    auto got = f.run(read_parts(*f.files, path, how, parts));
    REQUIRE(got.ok());
    CHECK(got->size() == kBytes + parts.size());
    const std::size_t resident = resident_pages(path, kBytes);
    CAPTURE(static_cast<int>(how), resident, kBytes / 4096);
    if (how == page_cache::keep) CHECK(resident > kBytes / 4096 * 9 / 10);
    else CHECK(resident < kBytes / 4096 / 5);
  }
}

TEST_CASE("a file system without these features is still read") {
  FOR_EACH_BACKEND(f);
  if (!std::filesystem::exists("/dev/shm")) return;
  const std::string path = "/dev/shm/sluice-page-cache-" + std::to_string(::getpid());
  const std::string bytes = random_bytes(300'000, 59);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  for (page_cache how : kAll) {
    auto got = f.run(read_parts(*f.files, path, how, {{0, 400'000}, {12'345, 678}}));
    CAPTURE(static_cast<int>(how));
    CHECK(got.ok());
    if (got.ok()) CHECK(*got == bytes + "|" + bytes.substr(12'345, 678) + "|");
  }
  std::filesystem::remove(path);
}

}  // namespace sluice::lib::page_cache_test
