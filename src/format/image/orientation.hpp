// SPDX-License-Identifier: Apache-2.0
// EXIF's orientation of the stored image: 1 upright; 2, 4, 5, 7 mirrored; 3, 6, 8 rotated.
#pragma once

#include <cstdint>
#include <string_view>

#include "sluice/format/image.hpp"

namespace sluice::lib::detail {

/// Returns the orientation in a JPEG's APP1 marker: 1 … 8, or 0 if it has none.
int exif_orientation(std::string_view app1) noexcept;
/// Returns the spec of the image after its orientation was applied.
image_spec oriented(image_spec spec, int orientation) noexcept;
/// Writes the upright image without gaps.
void orient(const image_view& from, int orientation, std::uint8_t* to) noexcept;

}  // namespace sluice::lib::detail
