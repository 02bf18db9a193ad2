// SPDX-License-Identifier: Apache-2.0
// Checkpoints written by hand: the parts of their envelope, and the seal that bytes should have.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "sluice/coro/position.hpp"
#include "sluice/format/crc32c.hpp"

namespace sluice::lib::testing {

constexpr std::size_t kEnvelopeBytes = 7 + 8 + 8 + 1 + 1;  // before the position (src/pipeline/seal.hpp)

/// Where the position begins: after the epoch, the inputs seen and the identities of functions.
inline std::size_t position_begin(std::string_view bytes) {
  position_reader header(bytes.substr(kEnvelopeBytes - 1));
  header.number();
  header.text();
  header.text();
  return bytes.size() - header.remaining().size();
}

/// With the checksum that its bytes should have.
inline std::string sealed_again(std::string bytes) {
  std::uint32_t crc = crc32c(std::string_view(bytes).substr(0, bytes.size() - 4));
  std::memcpy(bytes.data() + bytes.size() - 4, &crc, sizeof crc);
  return bytes;
}

}  // namespace sluice::lib::testing
