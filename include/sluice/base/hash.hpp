// SPDX-License-Identifier: Apache-2.0
// A hash that is the same everywhere and for ever: what checkpoints and plan fingerprints are compared by.
// FNV-1a with a finaliser: short inputs, once per run; not for tables (absl::Hash) nor against adversaries.
#pragma once

#include <cstdint>
#include <string_view>

#include "sluice/base/random.hpp"

namespace sluice::lib {

constexpr std::uint64_t stable_hash(std::string_view bytes, std::uint64_t seed = 0) noexcept {
  std::uint64_t h = 0xcbf29ce484222325u ^ seed;
  for (char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return mix(h);
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::stable_hash;

}  // namespace sluice
