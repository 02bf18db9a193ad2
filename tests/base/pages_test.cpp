// SPDX-License-Identifier: Apache-2.0
// base/memory/pages.hpp
#include "base/memory/pages.hpp"

#include <sys/mman.h>
#include <catch2/catch.hpp>

#include <cstddef>
#include <vector>

#include "support/process_memory.hpp"

namespace sluice::lib::pages_test {
namespace {

std::size_t pages_there(char* begin, std::size_t bytes) {
  std::vector<unsigned char> there(bytes / kPageBytes);
  REQUIRE(::mincore(begin, bytes, there.data()) == 0);
  std::size_t n = 0;
  for (unsigned char page : there) n += page & 1U;
  return n;
}

}  // namespace

TEST_CASE("prepared pages are mapped, written bytes stay, and other pages are not mapped") {
  if (testing::kSanitized) return;                       // memory is the sanitizer's there
  constexpr std::size_t kBytes = std::size_t{24} << 20;  // more than the stock keeps: these are new
  trim_stock();
  auto* at = static_cast<char*>(allocate_pages(kBytes / 8 - kPageBytes));  // below the size of huge pages
  const std::size_t all = pages_bytes(kBytes / 8 - kPageBytes);
  CHECK(pages_there(at, all) == 0);
  at[5 * kPageBytes] = 'x';
  ready_pages(at + kPageBytes + 1, at + 100 * kPageBytes - 1);
  const std::size_t there = pages_there(at, all);
  CHECK((there == 99 || there == 1));  // 1: a kernel before 5.14
  CHECK(at[5 * kPageBytes] == 'x');
  ready_pages(at, at);
  CHECK(pages_there(at, all) == there);
  free_pages(at, kBytes / 8 - kPageBytes);
  trim_stock();
}

}  // namespace sluice::lib::pages_test
