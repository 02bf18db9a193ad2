// SPDX-License-Identifier: Apache-2.0
// The usual PNG (8 bits, no palette, not interlaced) without libpng: inflated by ISA-L, twice as fast as zlib.
#pragma once

#include <cstdint>
#include <string_view>

#include "sluice/format/image.hpp"

namespace sluice::lib::detail {

/// Writes the pixels of a PNG of 8 bits with as many channels as `spec` has, without interlacing, palette and transparent colour.
/// Returns false, with anything in `out`, wherever something is not as it should be: libpng then says what, or makes do with it.
bool decode_plain_png(std::string_view encoded, const image_spec& spec, std::uint8_t* out);

}  // namespace sluice::lib::detail
