// SPDX-License-Identifier: Apache-2.0
// Transforms images: resize, crop, flip, colors, normalize, with the results of tf.image; and their random forms.
//
//   result<tensor> small = resize(photo, {.height = 224, .width = 224});           // float32[224,224,3], as TensorFlow
//   result<tensor> bytes = resize(photo, {.height = 224, .width = 224, .rounded = true});  // uint8[224,224,3]
//
//   random_source random(derive(seed, element));                              // the same draws for the same element
//   result<tensor> part = random_resized_crop(photo, {.size = {.height = 224, .width = 224}}, random);
//   result<tensor> turned = random_flip_left_right(*part, random);
//   const float mean[] = {123.7f, 116.3f, 103.5f}, deviation[] = {58.4f, 57.1f, 57.4f};
//   result<tensor> ready = normalize(*turned, mean, deviation);
//
// Every function that makes an image has a second form, which writes the pixels to a pixel_sink. Images are passed as
// tensors or as an image_view, a part of one (crop_view): cropping before a resize makes no copy.
//
// Shape:  [height, width, channels] of uint8, uint16 or float32, in and out. Animations are processed one frame at a
//         time.
// Random: the draws depend on the source only, and for equal arguments a function always draws the same number of
//         words. So a resumed run draws the same numbers as the first one.
// Errors: invalid_argument: sizes that are not positive, boxes that are not inside, unsupported numbers of channels.
//         resource_exhausted: a result above 2^30 bytes. Exceptions: std::bad_alloc; those of the sink;
//         error(invalid_argument) for a tensor that is not an image, as described for image_view(tensor).
// Equal:  to tf.image of TensorFlow 2.21: crop, flip and nearest to the bit; bilinear and bicubic within 0.002 of 255,
//         area within 0.01; colours of integers within 1, of floats within 1e-5 (tests/golden/README.md). Results have
//         the same bits on every machine.
// Thread: pure functions; a random_source belongs to its caller.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sluice/base/random_bits.hpp"
#include "sluice/base/result.hpp"
#include "sluice/format/image.hpp"

namespace sluice::lib {

// --- Size ---------------------------------------------------------------------------------------------------------

enum class resize_method : std::uint8_t {
  nearest,  ///< the pixel that contains the center; keeps the type
  bilinear,
  area,     ///< means of all covered pixels; always antialiased
  bicubic,  ///< Keys' kernel (Catmull-Rom)
};
std::string_view to_string(resize_method m);

struct resize_options {
  int height = 0, width = 0;
  resize_method method = resize_method::bilinear;
  /// If the image becomes smaller, each pixel combines all pixels that it covers. Otherwise it combines two (bicubic:
  /// four) in each direction.
  bool antialias = false;
  bool preserve_aspect_ratio = false;  ///< height and width are the largest allowed; one of them is reached
  /// The result has the type of the pixels, rounded and clamped. Otherwise it is float32.
  bool rounded = false;
};

/// Uses half-pixel centers, as TensorFlow 2's tf.image.resize does. Makes two one-dimensional passes. Columns that no
/// pixel of the result needs are not read.
result<tensor> resize(const image_view& pixels, const resize_options& options);
result<image_spec> resize(const image_view& pixels, const resize_options& options, pixel_sink to);

// --- Parts --------------------------------------------------------------------------------------------------------

/// Errors: invalid_argument unless the box is inside and not empty.
result<tensor> crop(const image_view& pixels, const image_box& box);
result<image_spec> crop(const image_view& pixels, const image_box& box, pixel_sink to);
/// Returns a view of the box, without a copy.
result<image_view> crop_view(const image_view& pixels, const image_box& box);
/// Returns the middle part, as tf.image.central_crop does: `fraction` of the height and of the width, 0 < fraction <=
/// 1.
result<tensor> central_crop(const image_view& pixels, double fraction);
result<image_spec> central_crop(const image_view& pixels, double fraction, pixel_sink to);
result<image_box> central_crop_box(const image_spec& spec, double fraction);
/// Copies a view's pixels, without gaps between the rows.
result<tensor> copy_pixels(const image_view& pixels);
result<image_spec> copy_pixels(const image_view& pixels, pixel_sink to);

result<tensor> flip_left_right(const image_view& pixels);
result<image_spec> flip_left_right(const image_view& pixels, pixel_sink to);
result<tensor> flip_up_down(const image_view& pixels);
result<image_spec> flip_up_down(const image_view& pixels, pixel_sink to);

// --- Colors -------------------------------------------------------------------------------------------------------
// Integers are converted to float32 in [0, 1], clamped, and converted back as in TensorFlow.

struct colour_changes {
  float brightness = 0;  ///< added
  float contrast = 1;    ///< factor for the distance from the channel's mean
  float saturation = 1;  ///< factor; only for 3 channels
  float hue = 0;         ///< added, as a part of a full turn; -1 … 1; only for 3 channels
};

/// Applies the changes that differ from the default, in the order above. Converts to the type of the pixels once, at
/// the end.
result<tensor> adjust_colours(const image_view& pixels, const colour_changes& changes);
result<image_spec> adjust_colours(const image_view& pixels, const colour_changes& changes, pixel_sink to);

/// Each of these applies one change.
result<tensor> adjust_brightness(const image_view& pixels, float delta);
result<tensor> adjust_contrast(const image_view& pixels, float factor);
result<tensor> adjust_saturation(const image_view& pixels, float factor);
result<tensor> adjust_hue(const image_view& pixels, float delta);

/// Returns float32: (x - mean[c]) / deviation[c], in units of the pixels. Errors: invalid_argument unless each channel
/// has one mean and one deviation, which is not 0.
result<tensor> normalize(const image_view& pixels, std::span<const float> mean, std::span<const float> deviation);
result<image_spec> normalize(const image_view& pixels, std::span<const float> mean, std::span<const float> deviation,
                             pixel_sink to);

// --- Random -------------------------------------------------------------------------------------------------------

/// Returns a box at a uniformly random place. Draws 2 words. Errors: a box that does not fit.
result<image_box> random_crop_box(const image_spec& spec, int height, int width, random_source& random);
/// Crops to that box.
result<tensor> random_crop(const image_view& pixels, int height, int width, random_source& random);
result<image_spec> random_crop(const image_view& pixels, int height, int width, random_source& random, pixel_sink to);

struct random_box_options {
  double area_min = 0.08, area_max = 1;             ///< as a share of the image's area
  double ratio_min = 3.0 / 4, ratio_max = 4.0 / 3;  ///< width to height; its logarithm is uniform
};

/// Returns a box of random area and aspect ratio at a random place. After ten boxes that do not fit, it returns the
/// largest allowed box in the middle. Draws 40 words.
result<image_box> random_resized_crop_box(const image_spec& spec, const random_box_options& options,
                                          random_source& random);

struct random_resized_crop_options {
  resize_options size;
  random_box_options box = {};
};

/// Crops to that box and resizes.
result<tensor> random_resized_crop(const image_view& pixels, const random_resized_crop_options& options,
                                   random_source& random);
result<image_spec> random_resized_crop(const image_view& pixels, const random_resized_crop_options& options,
                                       random_source& random, pixel_sink to);

/// Flips with probability 1/2. Draws 1 word.
result<tensor> random_flip_left_right(const image_view& pixels, random_source& random);
result<image_spec> random_flip_left_right(const image_view& pixels, random_source& random, pixel_sink to);
result<tensor> random_flip_up_down(const image_view& pixels, random_source& random);
result<image_spec> random_flip_up_down(const image_view& pixels, random_source& random, pixel_sink to);

struct colour_jitter_options {
  float brightness = 0;  ///< -brightness … brightness
  float contrast_min = 1, contrast_max = 1;
  float saturation_min = 1, saturation_max = 1;
  float hue = 0;  ///< -hue … hue; 0 … 0.5
};

/// Returns changes that are uniform within these ranges. Draws 4 words. Errors: invalid_argument if a minimum is above
/// its maximum, or below 0.
result<colour_changes> random_colours(const colour_jitter_options& options, random_source& random);
/// Applies tf.image's random_brightness, random_contrast, random_saturation and random_hue, in this order.
result<tensor> colour_jitter(const image_view& pixels, const colour_jitter_options& options, random_source& random);
result<image_spec> colour_jitter(const image_view& pixels, const colour_jitter_options& options, random_source& random,
                                 pixel_sink to);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::adjust_brightness;
using lib::adjust_colours;
using lib::adjust_contrast;
using lib::adjust_hue;
using lib::adjust_saturation;
using lib::central_crop;
using lib::colour_changes;
using lib::colour_jitter;
using lib::copy_pixels;
using lib::crop;
using lib::crop_view;
using lib::flip_left_right;
using lib::flip_up_down;
using lib::normalize;
using lib::random_crop;
using lib::random_flip_left_right;
using lib::random_flip_up_down;
using lib::random_resized_crop;
using lib::resize;
using lib::resize_method;

}  // namespace sluice
