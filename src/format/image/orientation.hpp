// SPDX-License-Identifier: Apache-2.0
// EXIF's orientation of the stored image: 1 upright; 2, 4, 5, 7 mirrored; 3, 6, 8 rotated.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "sluice/format/image.hpp"

namespace sluice::lib::detail {

/// Returns the orientation in a JPEG's APP1 marker: 1 … 8, or 0 if it has none.
int exif_orientation(std::string_view app1) noexcept;
/// The same for the EXIF data of a PNG or a WebP, which begin with the TIFF header, or as in a JPEG.
int exif_block_orientation(std::string_view block) noexcept;
/// Returns the spec of the image after its orientation was applied.
image_spec oriented(image_spec spec, int orientation) noexcept;
/// Writes the upright image without gaps.
void orient(const image_view& from, int orientation, std::uint8_t* to) noexcept;

/// Decodes the stored image into a sink.
using stored_decoder = std::function<result<image_spec>(pixel_sink)>;
/// Calls `decode`, and writes the upright image, or the upright frames, to `to`. `orientation`: 0 and 1 are upright.
result<image_spec> decode_upright(int orientation, const stored_decoder& decode, pixel_sink to);

}  // namespace sluice::lib::detail
