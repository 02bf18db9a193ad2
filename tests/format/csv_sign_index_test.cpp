// SPDX-License-Identifier: Apache-2.0
// src/format/csv/csv_sign_index.hpp
#include "format/csv/csv_sign_index.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "support/random/random_numbers.hpp"

namespace sluice::lib {
namespace {

using test::random_numbers;

/// `often`: each of them is as frequent as all other bytes together.
std::string random_bytes(random_numbers& random, std::size_t length, std::string_view often) {
  std::string bytes;
  for (std::size_t i = 0; i != length; ++i)
    bytes += random.below(2) == 0 ? static_cast<char>(random.below(256)) : often[random.below(often.size())];
  return bytes;
}

std::vector<std::uint32_t> expected_places(std::string_view bytes, std::size_t from, csv_signs s) {
  std::vector<std::uint32_t> places;
  for (std::size_t i = from; i != bytes.size(); ++i)
    if (bytes[i] == s.delimiter || bytes[i] == s.quote || bytes[i] == '\n' || bytes[i] == '\r')
      places.push_back(static_cast<std::uint32_t>(i));
  return places;
}

TEST_CASE("CSV signs: each way that this machine has finds the same places", "[csv]") {
  random_numbers random(7);
  // ':' and '*' have the lowest bits of a line end, '2' those of the quote; the last one is not ASCII.
  for (const char delimiter : {',', ';', '\t', '|', ' ', '/', '\x1f', ':', '*', '2', '\xA7'})
    for (const char quote : {'"', delimiter}) {
      const csv_signs signs{.delimiter = delimiter, .quote = quote};
      for (const std::string_view often : {std::string_view("xyz0123456789.-~"), std::string_view(",;:\n\r\"\t|")})
        for (int round = 0; round != 20; ++round) {
          const std::string bytes = random_bytes(random, random.below(400), often);
          const std::size_t from = bytes.empty() ? 0 : random.below(bytes.size());
          const std::vector<std::uint32_t> expected = expected_places(bytes, from, signs);
          for (const csv_sign_index& way : csv_sign_indexes(signs)) {
            std::vector<std::uint32_t> places(bytes.size() - from);  // no more room than what the contract asks for
            const std::uint32_t* const end = way.find(bytes.data(), static_cast<std::uint32_t>(from),
                                                      static_cast<std::uint32_t>(bytes.size()), way, places.data());
            places.resize(static_cast<std::size_t>(end - places.data()));
            REQUIRE(places == expected);
          }
        }
    }
}

TEST_CASE("CSV signs: bytes that are all signs fit into the room", "[csv]") {
  const std::string bytes(1000, ',');
  const csv_signs signs{.delimiter = ',', .quote = '"'};
  for (const csv_sign_index& way : csv_sign_indexes(signs)) {
    std::vector<std::uint32_t> places(bytes.size());
    CHECK(way.find(bytes.data(), 0, 1000, way, places.data()) == places.data() + places.size());
    CHECK(places == expected_places(bytes, 0, signs));
  }
}

}  // namespace
}  // namespace sluice::lib
