// SPDX-License-Identifier: Apache-2.0
// Decodes the usual PNG (8 bits, no palette, not interlaced) without libpng. ISA-L inflates it twice as fast as zlib.
#pragma once

#include <cstdint>
#include <string_view>

#include "sluice/format/image.hpp"

namespace sluice::lib::detail {

/// Writes the pixels of a PNG of 8 bits with as many channels as `spec`, without interlacing, palette and transparent
/// color. Returns false for any other or damaged file, after which the contents of `out` are undefined; libpng then
/// decodes it or reports the error.
bool decode_plain_png(std::string_view encoded, const image_spec& spec, std::uint8_t* out);

}  // namespace sluice::lib::detail
