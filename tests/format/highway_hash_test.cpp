// SPDX-License-Identifier: Apache-2.0
// src/format/riegeli/highway_hash.hpp
#include "format/riegeli/highway_hash.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace sluice::lib::highway_hash_test {

constexpr highway_key kTestKey = {0x0706050403020100, 0x0F0E0D0C0B0A0908, 0x1716151413121110, 0x1F1E1D1C1B1A1918};

// The vectors of google/highwayhash (kExpected64): the hash of the bytes 0, 1, 2 … n - 1.
TEST_CASE("hashes are those of the published vectors") {
  constexpr std::uint64_t kExpected[] = {0x907A56DE22C26E53, 0x7EAB43AAC7CDDD78, 0xB8D0569AB0B53D62,
                                         0x5C6BEFAB8A463D80};
  std::string bytes;
  for (const std::uint64_t expected : kExpected) {
    CHECK(highway_hash(kTestKey, bytes) == expected);
    bytes += static_cast<char>(bytes.size());
  }
}

// Written by the library of Riegeli: the first block header of every file, and a header of a chunk.
TEST_CASE("hashes of Riegeli's headers are those that its library writes") {
  using namespace std::string_view_literals;
  CHECK(highway_hash(kRiegeliKey, "\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0"sv) == 0x3f4a880dd170af83);
}

TEST_CASE("every length has a hash of its own, and every changed byte changes it") {
  std::string bytes;
  for (int i = 0; i != 100; ++i) bytes += static_cast<char>(i * 7);
  for (std::size_t n = 1; n != bytes.size(); ++n) {
    const std::uint64_t whole = highway_hash(kTestKey, std::string_view(bytes).substr(0, n));
    CHECK(whole != highway_hash(kTestKey, std::string_view(bytes).substr(0, n - 1)));
    std::string changed = bytes.substr(0, n);
    changed[n / 2] = static_cast<char>(changed[n / 2] ^ 1);
    CHECK(whole != highway_hash(kTestKey, changed));
  }
}

}  // namespace sluice::lib::highway_hash_test
