// SPDX-License-Identifier: Apache-2.0
// A hash of bytes that is equal on every machine and in every version of the library. Fingerprints of plans are made
// with it. FNV-1a with a finalizer: for short inputs that are hashed once per run. Not for hash tables (use
// absl::Hash), and not collision-resistant against adversaries.
#pragma once

#include <cstdint>
#include <string_view>

#include "sluice/base/random_bits.hpp"

namespace sluice::lib {

constexpr std::uint64_t stable_hash(std::string_view bytes, std::uint64_t seed = 0) noexcept {
  std::uint64_t h = 0xcbf29ce484222325u ^ seed;
  for (char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return mix(h);
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::stable_hash;

}  // namespace sluice
