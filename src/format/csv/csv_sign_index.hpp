// SPDX-License-Identifier: Apache-2.0
// Finds the places of the characters that separate the fields and rows of a CSV file.
//
//   csv_sign_index index = best_csv_sign_index({',', '"'});
//   std::uint32_t* end = index.find(bytes, 0, n, index, out);      // `out` has room for n places
//
// Thread: any number of callers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace sluice::lib {

/// Line ends are signs, too.
struct csv_signs {
  char delimiter, quote;
};

/// One way to find signs, and what it needs.
struct csv_sign_index {
  /// Appends the places of signs in [from, to) of `bytes`; returns the end.
  /// REQUIRES: `out` has room for to - from places.
  using function = std::uint32_t* (*)(const char* bytes, std::uint32_t from, std::uint32_t to, const csv_sign_index&,
                                      std::uint32_t* out);
  function find = nullptr;
  csv_signs signs{};
  /// Entry k is the sign whose lowest four bits are k. If no sign has them, it is a byte with other lowest bits, which
  /// equals no byte that looks it up.
  std::array<char, 16> by_low_bits{};
};

/// Returns the fastest way that this machine has.
csv_sign_index best_csv_sign_index(csv_signs s);
/// Returns all ways that this machine has, the slowest first.
std::vector<csv_sign_index> csv_sign_indexes(csv_signs s);

}  // namespace sluice::lib
