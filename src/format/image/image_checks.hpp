// SPDX-License-Identifier: Apache-2.0
// Errors and checks that all codecs share, and the conversion of a decoder with a sink to one that returns a tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/format/image.hpp"

namespace sluice::lib::detail {

/// Returns invalid_argument: "decode_png: what".
status image_error(std::string_view function, std::string_view what);
/// Returns data_loss: "decode_png: what at byte 123".
status image_damage(std::string_view function, std::string_view what, std::size_t at_byte);
status image_truncated(std::string_view function, std::size_t at_byte);
/// Returns unimplemented: sluice was built without the library for this format.
status image_unavailable(std::string_view function, std::string_view library);

status check_encoded(std::string_view function, std::string_view encoded, const image_limits& limits);
/// Checks the size in a header. After it height, width and their product fit into int, int and int64_t.
status check_size(std::string_view function, std::uint64_t height, std::uint64_t width, std::uint64_t frames,
                  const image_limits& limits);
status check_result(std::string_view function, const image_spec& spec, const image_limits& limits);
/// Checks the input of a transform: not empty, with channels.
status check_pixels(std::string_view function, const image_view& pixels);
/// Checks that the box is not empty, and inside the image.
status check_box(std::string_view function, const image_box& box, int height, int width);

/// Calls `decode(sink)` with a sink that stores the pixels in a tensor.
template <class Decode> result<tensor> into_tensor(Decode decode) {
  tensor made;
  result<image_spec> done = decode([&](const image_spec& spec) {
    const tensor_spec wanted = spec.tensor();
    made = tensor::make(wanted.dtype, wanted.shape);
    return reinterpret_cast<std::uint8_t*>(made.writable_data());
  });
  if (!done.ok()) return done.why();
  return made;
}

}  // namespace sluice::lib::detail
