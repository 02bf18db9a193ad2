// SPDX-License-Identifier: Apache-2.0
// EXIF's orientation: how an image lies in its file. 1 as it should; 2, 4, 5, 7 mirrored; 3, 6, 8 turned.
#pragma once

#include <cstdint>
#include <string_view>

#include "sluice/format/image.hpp"

namespace sluice::lib::detail {

/// Returns the orientation in a JPEG's APP1 marker: 1 … 8, or 0 if it has none.
int exif_orientation(std::string_view app1) noexcept;
/// The spec of an image of `spec` once it is turned.
image_spec oriented(image_spec spec, int orientation) noexcept;
/// Writes `from`, turned, without gaps.
void orient(const image_view& from, int orientation, std::uint8_t* to) noexcept;

}  // namespace sluice::lib::detail
