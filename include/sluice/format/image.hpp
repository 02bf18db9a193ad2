// SPDX-License-Identifier: Apache-2.0
// Images as memory: what decoders write, and what transforms read and write. Numbers in rows, pixels and channels, without
// gaps: the layout of uint8[height, width, channels], so that an image becomes a tensor without a copy.
//
//   result<image> photo = decode_jpeg(bytes);                        // memory of its own, aligned to 64 bytes
//   image_view middle = photo->view().crop({.y = 10, .x = 20, .height = 100, .width = 80});   // no copy
//
//   std::vector<std::uint8_t> mine;                                  // or where the caller wants the pixels to be:
//   auto spec = decode_jpeg(bytes, {}, [&](const image_spec& s) { mine.resize(s.bytes()); return mine.data(); });
//
// Owns:   image: its memory (a counted `buffer`, that copies share). image_view: nothing.
// Thread: as plain values.
// See:    format/image_codecs.hpp, format/image_transforms.hpp, docs/images.md. Library: sluice-images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "sluice/base/buffer.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib {

/// What one channel of one pixel is.
enum class pixel_type : std::uint8_t { uint8, uint16, float32 };

constexpr std::size_t pixel_bytes(pixel_type t) noexcept {
  return t == pixel_type::uint8 ? 1 : t == pixel_type::uint16 ? 2 : 4;
}

/// A part of an image; the first row and column are 0. Without height and width: all of it.
struct image_box {
  int y = 0, x = 0, height = 0, width = 0;
  bool is_all() const noexcept { return height == 0 && width == 0; }
};

/// What an image is, besides its numbers. 1 channel is grey, 2 are grey and alpha, 3 are RGB, 4 are RGBA. Alpha is not multiplied into
/// the others.
struct image_spec {
  int height = 0, width = 0, channels = 0;
  pixel_type type = pixel_type::uint8;
  int frames = 1;  ///< of an animation, one behind the other

  std::size_t row_bytes() const noexcept {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels) * pixel_bytes(type);
  }
  std::size_t frame_bytes() const noexcept { return row_bytes() * static_cast<std::size_t>(height); }
  std::size_t bytes() const noexcept { return frame_bytes() * static_cast<std::size_t>(frames); }
  /// "uint8[375,500,3]"; of several frames "uint8[12,64,64,3]".
  std::string text() const;
  friend bool operator==(const image_spec&, const image_spec&) = default;
};

/// One frame, or a part of one, that lies somewhere else. Rows may have a distance of more than their own bytes.
struct image_view {
  const std::uint8_t* data = nullptr;
  int height = 0, width = 0, channels = 0;
  pixel_type type = pixel_type::uint8;
  std::size_t row_bytes = 0;  ///< from a row to the next

  image_view() noexcept = default;
  /// Without gaps between rows.
  image_view(const std::uint8_t* pixels, const image_spec& s) noexcept
      : data(pixels),
        height(s.height),
        width(s.width),
        channels(s.channels),
        type(s.type),
        row_bytes(s.row_bytes()) {}

  image_spec spec() const noexcept { return {.height = height, .width = width, .channels = channels, .type = type}; }
  const std::uint8_t* row(int y) const noexcept { return data + static_cast<std::size_t>(y) * row_bytes; }
  /// A part of this view. REQUIRES: it lies inside; crop_box() in image_transforms.hpp checks that.
  image_view crop(const image_box& b) const noexcept {
    image_view v = *this;
    v.data = row(b.y) + static_cast<std::size_t>(b.x) * static_cast<std::size_t>(channels) * pixel_bytes(type);
    v.height = b.height;
    v.width = b.width;
    return v;
  }
};

/// Refused before anything is allocated, with resource_exhausted.
struct image_limits {
  std::size_t encoded_bytes_max = std::size_t{1} << 29;
  int side_max = 1 << 17;                           ///< of height and of width, as they are in the file
  std::int64_t pixels_max = std::int64_t{1} << 28;  ///< height · width · frames, as they are in the file
  std::size_t bytes_max = std::size_t{1} << 30;     ///< of the result
};

/// Where a function's pixels go: a reference to a callable of the caller's, `std::uint8_t* (const image_spec&)`. It is called at
/// most once, when limits and arguments have been checked, and gives room for spec.bytes() bytes, aligned to the pixel type; they
/// are written without gaps, and hold anything if there is an error afterwards. What it throws reaches the caller; null is
/// resource_exhausted. Alive as long as the callable: for parameters.
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

/// An image with memory of its own, aligned to 64 bytes and recycled. Copies share it.
class image {
 public:
  image() noexcept = default;
  /// Of numbers that are not initialised. Errors: throws std::bad_alloc. REQUIRES: spec.bytes() does not overflow.
  explicit image(const image_spec& spec);

  const image_spec& spec() const noexcept { return spec_; }
  int height() const noexcept { return spec_.height; }
  int width() const noexcept { return spec_.width; }
  int channels() const noexcept { return spec_.channels; }
  const std::uint8_t* data() const noexcept { return bytes_ ? reinterpret_cast<std::uint8_t*>(bytes_->data()) : nullptr; }
  /// To be written before the image is copied: copies see what is written here.
  std::uint8_t* data() noexcept { return bytes_ ? reinterpret_cast<std::uint8_t*>(bytes_->data()) : nullptr; }
  std::span<const std::uint8_t> bytes() const noexcept { return {data(), spec_.bytes()}; }
  /// All numbers, of a type that the caller knows. REQUIRES: T is that of spec().type.
  template <class T> std::span<const T> values() const noexcept {
    return {reinterpret_cast<const T*>(data()), spec_.bytes() / sizeof(T)};
  }
  image_view view(int frame = 0) const noexcept {
    return {data() + spec_.frame_bytes() * static_cast<std::size_t>(frame), spec_};
  }
  operator image_view() const noexcept { return view(); }  // NOLINT: an image is what its view is
  /// For who shares the memory: a tensor.
  const buffer_ref& memory() const noexcept { return bytes_; }

 private:
  image_spec spec_;
  buffer_ref bytes_;
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::image;
using lib::image_box;
using lib::image_limits;
using lib::image_spec;
using lib::image_view;
using lib::pixel_type;

}  // namespace sluice
