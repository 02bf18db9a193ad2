// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/crc32c.hpp"

#include "base/crc32c_inline.hpp"

namespace sluice::lib {

SLUICE_TARGET_CRC std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) noexcept {
  return ~detail::inverted_crc(bytes.data(), bytes.size(), ~before);
}

}  // namespace sluice::lib
