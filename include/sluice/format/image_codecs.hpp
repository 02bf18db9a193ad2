// SPDX-License-Identifier: Apache-2.0
// Encoded images to pixels and back: JPEG, PNG, WebP, GIF and BMP, as TensorFlow's functions of the same names.
//
//   result<tensor> a = decode_image(bytes);                                       // whatever it is, by its first bytes
//   result<tensor> b = decode_jpeg(bytes, {.channels = 3, .crop = {.y = 20, .x = 0, .height = 224, .width = 224}});
//   result<tensor> c = decode_jpeg(bytes, {.height_min = 224, .width_min = 224});  // decodes fewer pixels where that is enough
//   result<std::string> d = encode_jpeg(*a, {.quality = 90});
//
// Every decoder has a second form, which writes where the caller says (pixel_sink) and answers with what it wrote.
//
// Shape:  uint8[height, width, channels]; of PNG also uint16; with frame_choice::all [frames, height, width, channels], which a
//         still image has, too, with one frame.
// Errors: data_loss: damaged or cut short, with the byte that was reached ("decode_jpeg: premature end of the data at byte
//         1234"). invalid_argument: not this format, or options that it does not have. resource_exhausted: above `limits`, before
//         anything is allocated for pixels. unimplemented: built without the format's library. Exceptions: std::bad_alloc, and
//         what the caller's sink throws.
// Equal:  to TensorFlow 2.21: PNG, BMP, GIF and WebP to the bit, JPEG within 1 (tests/golden/README.md). EXIF orientation is
//         ignored unless asked for, as there.
// Thread: pure functions. No state is kept between calls.
// Cost:   pixels are written once, into their place. Memory besides: a few rows; of a progressive JPEG all coefficients (6 bytes
//         a pixel and more); of WebP without loss 4 bytes a pixel, of animated WebP 8. What a JPEG needs is limited by bytes_max
//         as the result is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/format/image.hpp"

namespace sluice::lib {

// --- JPEG ---------------------------------------------------------------------------------------------------------

enum class jpeg_dct : std::uint8_t {
  fast,      ///< TensorFlow's default: off by one or two now and then
  accurate,  ///< libjpeg's default
};

struct jpeg_options {
  int channels = 0;  ///< 0: grey or RGB, as the file is; 1; 3. CMYK and YCCK become RGB
  int ratio = 1;     ///< 2, 4, 8: decodes an image with so many times fewer rows and columns, by parts of the transform
  /// Both not 0: the ratio is the largest that leaves at least so many rows and columns. Meant for a resize that follows.
  int height_min = 0, width_min = 0;
  /// A part of the (scaled) image: only its rows, and the blocks that its columns touch, are decoded. What is damaged below it is not
  /// noticed.
  image_box crop = {};
  jpeg_dct dct = jpeg_dct::fast;
  bool fancy_upscaling = true;         ///< of colours that have a lower resolution: interpolated, not repeated
  bool try_recover_truncated = false;  ///< what is missing is grey, or as the row above, instead of an error
  bool apply_orientation = false;      ///< turns the image as its EXIF says. Not together with `crop`
  image_limits limits = {};
};

result<tensor> decode_jpeg(std::string_view encoded, const jpeg_options& options = {});
result<image_spec> decode_jpeg(std::string_view encoded, const jpeg_options& options, pixel_sink to);

/// What `ratio` height_min and width_min choose for an image of this size: 1, 2, 4 or 8.
int jpeg_ratio_for(int height, int width, int height_min, int width_min) noexcept;

struct jpeg_encode_options {
  int quality = 95;  ///< 0 … 100
  bool progressive = false;
  bool optimize = false;  ///< smaller by a few per cent, slower
  bool downsample_chroma = true;
  int density = 300;  ///< pixels an inch, as TensorFlow writes
};

/// Of uint8 with 1 or 3 channels.
result<std::string> encode_jpeg(const image_view& pixels, const jpeg_encode_options& options = {});

// --- PNG ----------------------------------------------------------------------------------------------------------

struct png_options {
  int channels = 0;                ///< 0: as the file has; 1 … 4: converted, grey as 0.299 R + 0.587 G + 0.114 B
  lib::dtype type = dtype::uint8;  ///< or uint16: 8 bits are widened (× 257), 16 bits cut to 8 for uint8
  image_limits limits = {};
};

result<tensor> decode_png(std::string_view encoded, const png_options& options = {});
result<image_spec> decode_png(std::string_view encoded, const png_options& options, pixel_sink to);

/// Of uint8 or uint16 with 1 … 4 channels. `compression`: zlib's, 0 … 9; -1: its default.
result<std::string> encode_png(const image_view& pixels, int compression = -1);

// --- WebP, GIF, BMP -----------------------------------------------------------------------------------------------

enum class frame_choice : std::uint8_t { first, all };  ///< an image; or [frames, height, width, channels]

struct webp_options {
  int channels = 0;  ///< 0: RGB, or RGBA where the file has alpha; 3; 4
  frame_choice frames = frame_choice::first;
  image_limits limits = {};
};

result<tensor> decode_webp(std::string_view encoded, const webp_options& options = {});
result<image_spec> decode_webp(std::string_view encoded, const webp_options& options, pixel_sink to);

struct gif_options {
  frame_choice frames = frame_choice::first;
  image_limits limits = {};
};

/// RGB. Each frame is drawn over the one before; what no frame has drawn is black.
result<tensor> decode_gif(std::string_view encoded, const gif_options& options = {});
result<image_spec> decode_gif(std::string_view encoded, const gif_options& options, pixel_sink to);

struct bmp_options {
  int channels = 0;  ///< 0: as the file has (8, 24, 32 bits: 1, 3, 4); 3; 4
  image_limits limits = {};
};

/// Without compression and palettes: 8 bits are grey, as in TensorFlow. Bottom-up and top-down.
result<tensor> decode_bmp(std::string_view encoded, const bmp_options& options = {});
result<image_spec> decode_bmp(std::string_view encoded, const bmp_options& options, pixel_sink to);

// --- Any of them --------------------------------------------------------------------------------------------------

enum class image_format : std::uint8_t { unknown, jpeg, png, gif, bmp, webp };
std::string_view to_string(image_format f);
/// By the first bytes; 16 are enough.
image_format image_format_of(std::string_view encoded) noexcept;
/// Was the library that reads this format there when sluice-images was built? If not, its functions give unimplemented.
bool is_available(image_format f) noexcept;

struct image_options {
  int channels = 0;                           ///< 0: as the file has; 1, 3, 4: what the format can give
  frame_choice frames = frame_choice::first;  ///< of GIF and WebP; the others give an image
  image_limits limits = {};
};

/// uint8. Errors: invalid_argument where the first bytes are of no format.
result<tensor> decode_image(std::string_view encoded, const image_options& options = {});
result<image_spec> decode_image(std::string_view encoded, const image_options& options, pixel_sink to);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::decode_bmp;
using lib::decode_gif;
using lib::decode_image;
using lib::decode_jpeg;
using lib::decode_png;
using lib::decode_webp;
using lib::encode_jpeg;
using lib::encode_png;
using lib::frame_choice;
using lib::image_format;
using lib::image_format_of;
using lib::jpeg_dct;

}  // namespace sluice
