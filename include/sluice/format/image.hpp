// SPDX-License-Identifier: Apache-2.0
// Images: tensors of [height, width, channels]. A transform reads an image_view, which is an image or a part of it. A
//   function writes its result to a pixel_sink.
//
//   tensor photo = decode_jpeg(bytes).value();                        // uint8[375,500,3]
//   image_view middle = image_view(photo).crop({.y = 10, .x = 20, .height = 100, .width = 80});   // no copy
//   result<tensor> small = resize(middle, {.height = 50, .width = 40});
//
//   std::vector<std::uint8_t> mine;                                   // or into memory of the caller:
//   auto spec = decode_jpeg(bytes, {}, [&](const image_spec& s) { mine.resize(s.bytes()); return mine.data(); });
//
// Shape:  uint8, uint16 or float32 of [height, width, channels]. Animations are [frames, height, width, channels], and
//         their frames (`animation[i]`) are images.
// Owns:   image_view: nothing.
// Thread: the same as for plain values.
// See:    format/image_codecs.hpp, format/image_transforms.hpp, docs/images.md. Library: sluice-images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "sluice/base/assert.hpp"
#include "sluice/base/result.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {

/// A part of an image; the first row and column are 0. Without height and width: the whole image.
struct image_box {
  int y = 0, x = 0, height = 0, width = 0;
  bool is_all() const noexcept { return height == 0 && width == 0; }
};

/// The properties of an image except its pixels. 1 channel is gray, 2 are gray and alpha, 3 are RGB, 4 are RGBA. The
/// other channels are not multiplied by alpha.
struct image_spec {
  int height = 0, width = 0, channels = 0;
  lib::dtype type = dtype::uint8;  ///< or uint16, or float32
  /// The frames of an animation, stored consecutively; 0: a single image, without that dimension.
  int frames = 0;

  std::size_t row_bytes() const noexcept {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels) * size_bytes(type);
  }
  std::size_t frame_bytes() const noexcept { return row_bytes() * static_cast<std::size_t>(height); }
  std::size_t bytes() const noexcept { return frame_bytes() * static_cast<std::size_t>(frames == 0 ? 1 : frames); }
  /// uint8[375,500,3]; with frames uint8[12,64,64,3].
  tensor_spec tensor() const;
  std::string text() const { return tensor().text(); }
  friend bool operator==(const image_spec&, const image_spec&) = default;
};

/// An image, or a part of one, in memory that it does not own. The distance between rows may exceed the bytes of a row.
struct image_view {
  const std::uint8_t* data = nullptr;
  int height = 0, width = 0, channels = 0;
  lib::dtype type = dtype::uint8;
  std::size_t row_bytes = 0;  ///< distance from one row to the next

  image_view() noexcept = default;
  /// A view of one frame without gaps between rows.
  image_view(const std::uint8_t* pixels, const image_spec& s) noexcept
      : data(pixels), height(s.height), width(s.width), channels(s.channels), type(s.type), row_bytes(s.row_bytes()) {}
  /// Valid as long as the tensor. Errors: throws invalid_argument unless the tensor has three dimensions of at most
  /// 2^31 - 1, and is of uint8, uint16 or float32.
  image_view(const tensor& image);  // NOLINT: functions that take images take such tensors

  image_spec spec() const noexcept { return {.height = height, .width = width, .channels = channels, .type = type}; }
  const std::uint8_t* row(int y) const noexcept { return data + static_cast<std::size_t>(y) * row_bytes; }
  /// Returns a part of this view. REQUIRES: it lies inside; crop_view() in image_transforms.hpp checks that.
  image_view crop(const image_box& b) const noexcept {
    SLUICE_REQUIRES(
        b.x >= 0 && b.y >= 0 && b.width >= 0 && b.height >= 0 && b.x <= width - b.width && b.y <= height - b.height,
        "the box leaves the image");
    image_view v = *this;
    v.data = row(b.y) + static_cast<std::size_t>(b.x) * static_cast<std::size_t>(channels) * size_bytes(type);
    v.height = b.height;
    v.width = b.width;
    return v;
  }
};

/// Images above these limits are rejected before anything is allocated, with resource_exhausted.
struct image_limits {
  std::size_t encoded_bytes_max = std::size_t{1} << 29;
  int side_max = 1 << 17;                           ///< for height and for width, as stored in the file
  std::int64_t pixels_max = std::int64_t{1} << 28;  ///< height · width · frames, as stored in the file
  /// For the result, and a second time for the other memory of a decoder.
  std::size_t bytes_max = std::size_t{1} << 30;
};

/// The destination of a function's pixels: a reference to a callable of the caller, `std::uint8_t* (const
/// image_spec&)`. It is called at most once, after limits and arguments have been checked, and returns room for
/// spec.bytes() bytes, aligned to the type. The bytes are written without gaps; after an error their content is
/// unspecified. Exceptions of the callable reach the caller; null is resource_exhausted. Use it for parameters only: it
/// is valid as long as the callable.
class pixel_sink {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, pixel_sink> &&
             std::is_invocable_r_v<std::uint8_t*, F&, const image_spec&>)
  pixel_sink(F&& f) noexcept  // NOLINT: a lambda is passed for it
      : context_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* context, const image_spec& s) -> std::uint8_t* {
          return (*static_cast<std::remove_reference_t<F>*>(context))(s);
        }) {}

  /// Errors: resource_exhausted.
  result<std::uint8_t*> room(const image_spec& spec) const;

 private:
  void* context_;
  std::uint8_t* (*call_)(void*, const image_spec&);
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::image_box;
using lib::image_limits;
using lib::image_spec;
using lib::image_view;

}  // namespace sluice
