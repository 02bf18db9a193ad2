// SPDX-License-Identifier: Apache-2.0
// Decodes and encodes images: JPEG, PNG, WebP, GIF and BMP, like TensorFlow's functions of the same names.
//
//   result<tensor> a = decode_image(bytes);                                       // any format: the first bytes decide
//   result<tensor> b = decode_jpeg(bytes, {.channels = 3, .crop = {.y = 20, .x = 0, .height = 224, .width = 224}});
//   result<tensor> c = decode_jpeg(bytes, {.height_min = 224, .width_min = 224});  // fewer pixels
//   result<std::string> d = encode_jpeg(*a, {.quality = 90});
//
// Every decoder has a second form, which writes to a pixel_sink and returns the image_spec of its output.
//
// Shape:  uint8[height, width, channels]; PNG also uint16; with frame_choice::all [frames, height, width, channels],
//         which a still image has too, with one frame.
// Errors: data_loss: damaged or truncated, with the byte that was reached ("decode_jpeg: premature end of the data at
//         byte 1234"). invalid_argument: another format, or options that the format does not have. resource_exhausted:
//         above `limits`, before anything is allocated for pixels. unimplemented: built without the format's library.
//         Exceptions: std::bad_alloc, and those of the caller's sink.
// Equal:  to TensorFlow 2.21: PNG, BMP, GIF and WebP to the bit, JPEG within 1, except where its pixels are wrong
//         (tests/golden/README.md). EXIF orientation is ignored unless it is requested, like in TensorFlow.
// Thread: pure functions. No state is kept between calls.
// Cost:   pixels are written once, directly to their destination. Other memory: a few rows; for a progressive JPEG all
//         coefficients (6 bytes or more per pixel); for lossless WebP 4 bytes per pixel, for animated WebP 8. bytes_max
//         limits the memory for a JPEG, as it limits the result.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/format/image.hpp"

namespace sluice::lib {

// --- JPEG ---------------------------------------------------------------------------------------------------------

enum class jpeg_dct : std::uint8_t {
  fast,      ///< TensorFlow's default: sometimes wrong by one or two
  accurate,  ///< libjpeg's default
};

struct jpeg_options {
  int channels = 0;  ///< 0: gray or RGB, as in the file; 1; 3. CMYK and YCCK become RGB
  /// 2, 4, 8: decodes an image with 1/2, 1/4 or 1/8 of the rows and columns, using a part of the transform.
  int ratio = 1;
  /// If both are not 0: uses the largest ratio that leaves at least this many rows and columns. For a resize that
  /// follows.
  int height_min = 0, width_min = 0;
  /// A part of the (scaled) image, with exactly the pixels of a crop after decoding. Only its rows, and the blocks that
  /// its columns depend on, are decoded. Damage below it is not detected.
  image_box crop = {};
  jpeg_dct dct = jpeg_dct::fast;
  bool fancy_upscaling = true;  ///< colors with a lower resolution are interpolated, not repeated
  /// Missing parts become gray, or repeat the row above, instead of causing an error.
  bool try_recover_truncated = false;
  /// A file that ends too early is accepted if at least this share of the rows is complete; the others become black. 1
  /// accepts only whole files, unless try_recover_truncated is set, which accepts any.
  double acceptable_fraction = 1;
  bool apply_orientation = false;  ///< turns the image as its EXIF data require; not together with `crop`
  image_limits limits = {};
};

result<tensor> decode_jpeg(std::string_view encoded, const jpeg_options& options = {});
result<image_spec> decode_jpeg(std::string_view encoded, const jpeg_options& options, pixel_sink to);

/// The `ratio` that height_min and width_min select for an image of this size: 1, 2, 4 or 8.
int jpeg_ratio_for(int height, int width, int height_min, int width_min) noexcept;

struct jpeg_encode_options {
  int quality = 95;  ///< 0 … 100
  bool progressive = false;
  bool optimize = false;  ///< a few per cent smaller, but slower
  bool downsample_chroma = true;
  int density = 300;  ///< pixels per inch, as TensorFlow writes
};

/// Encodes uint8 with 1 or 3 channels.
result<std::string> encode_jpeg(const image_view& pixels, const jpeg_encode_options& options = {});

// --- PNG ----------------------------------------------------------------------------------------------------------

struct png_options {
  int channels = 0;                ///< 0: as in the file; 1 … 4: converted, gray as 0.299 R + 0.587 G + 0.114 B
  lib::dtype type = dtype::uint8;  ///< or uint16: 8 bits are widened (× 257), 16 bits are reduced to 8 for uint8
  bool apply_orientation = false;  ///< turns the image as its chunk eXIf requires
  image_limits limits = {};
};

result<tensor> decode_png(std::string_view encoded, const png_options& options = {});
result<image_spec> decode_png(std::string_view encoded, const png_options& options, pixel_sink to);

/// Encodes uint8 or uint16 with 1 … 4 channels. `compression`: zlib's level, 0 … 9; -1: its default.
result<std::string> encode_png(const image_view& pixels, int compression = -1);

// --- WebP, GIF, BMP -----------------------------------------------------------------------------------------------

enum class frame_choice : std::uint8_t { first, all };  ///< an image; or [frames, height, width, channels]

struct webp_options {
  int channels = 0;  ///< 0: RGB, or RGBA if the file has alpha; 3; 4
  frame_choice frames = frame_choice::first;
  bool apply_orientation = false;  ///< turns the image, or each frame, as its chunk EXIF requires
  image_limits limits = {};
};

result<tensor> decode_webp(std::string_view encoded, const webp_options& options = {});
result<image_spec> decode_webp(std::string_view encoded, const webp_options& options, pixel_sink to);

struct gif_options {
  int channels = 0;  ///< 0: RGB; 3; 4: with alpha, which is 0 where nothing was drawn and 255 elsewhere
  frame_choice frames = frame_choice::first;
  image_limits limits = {};
};

/// Decodes to RGB. Each frame is drawn over the previous one, whose area stays, is restored to what it was before, or is
/// restored to the background, as the file says. The background is the color that the file declares for its screen, or
/// transparent if the frame has a transparent color or the file declares none. Transparent pixels are black in RGB.
result<tensor> decode_gif(std::string_view encoded, const gif_options& options = {});
result<image_spec> decode_gif(std::string_view encoded, const gif_options& options, pixel_sink to);

struct bmp_options {
  /// 0: 1 for a palette of grays, 4 if the file declares bits of alpha, otherwise 3; 3; 4. With 4, the fourth byte of 32
  /// bits without masks is alpha, unless it is 0 everywhere.
  int channels = 0;
  image_limits limits = {};
};

/// Decodes palettes of 1, 2, 4 and 8 bits, also run-length encoded; 16 and 32 bits with any masks; 24 bits; headers of
/// Windows and OS/2; bottom-up and top-down. Pixels that run-length encoding skips have color 0. Bytes after the pixels
/// are ignored.
result<tensor> decode_bmp(std::string_view encoded, const bmp_options& options = {});
result<image_spec> decode_bmp(std::string_view encoded, const bmp_options& options, pixel_sink to);

// --- Any of them --------------------------------------------------------------------------------------------------

enum class image_format : std::uint8_t { unknown, jpeg, png, gif, bmp, webp };
std::string_view to_string(image_format f);
/// Detects the format by the first bytes; 16 are enough.
image_format image_format_of(std::string_view encoded) noexcept;
/// Returns true if sluice-images was built with the library for this format. If not, its functions return
/// unimplemented.
bool is_available(image_format f) noexcept;

struct image_options {
  int channels = 0;                           ///< 0: as in the file; 1, 3, 4: if the format supports it
  frame_choice frames = frame_choice::first;  ///< for GIF and WebP; the others return an image
  // For JPEG; other formats ignore them.
  jpeg_dct dct = jpeg_dct::fast;
  bool try_recover_truncated = false;
  double acceptable_fraction = 1;
  // For JPEG, PNG and WebP.
  bool apply_orientation = false;
  image_limits limits = {};
};

/// Decodes to uint8. Errors: invalid_argument if the first bytes belong to no known format.
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
