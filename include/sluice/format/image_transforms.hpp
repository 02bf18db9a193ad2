// SPDX-License-Identifier: Apache-2.0
// Images to images: resize, crop, flip, colours, normalize, as tf.image does them; and their random forms.
//
//   result<tensor> small = resize(photo, {.height = 224, .width = 224});               // float32[224,224,3], as TensorFlow
//   result<tensor> bytes = resize(photo, {.height = 224, .width = 224, .rounded = true});  // uint8[224,224,3]
//
//   random_source random(derive(seed, element));                                      // the same draws for the same element
//   result<tensor> part = random_resized_crop(photo, {.size = {.height = 224, .width = 224}}, random);
//   result<tensor> turned = random_flip_left_right(*part, random);
//   const float mean[] = {123.7f, 116.3f, 103.5f}, deviation[] = {58.4f, 57.1f, 57.4f};
//   result<tensor> ready = normalize(*turned, mean, deviation);
//
// Every function that makes an image has a second form, whose pixels go where a pixel_sink says. Images are given as tensors or
// as an image_view, a part of one (crop_view): what is cropped and then resized is not copied between.
//
// Shape:  [height, width, channels] of uint8, uint16 or float32, in and out. Of animations a frame at a time.
// Random: what is drawn depends on the source only, and every function draws the same number of words each time that its
//         arguments are the same, so that a resumed run draws as the first one did.
// Errors: invalid_argument: sizes that are not positive, boxes that are not inside, channels that a function does not have.
//         resource_exhausted: a result above 2^30 bytes. Exceptions: std::bad_alloc; what the sink throws; and from a tensor
//         that is no image error(invalid_argument), as image_view(tensor) says.
// Equal:  to tf.image of TensorFlow 2.21: crop, flip and nearest to the bit; bilinear and bicubic within 0.002 of 255, area
//         within 0.01; colours of integers within 1, of floats within 1e-5 (tests/golden/README.md). The same bits on every machine.
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
  nearest,  ///< the pixel that the centre lies in; keeps the type
  bilinear,
  area,     ///< means of what lies below a pixel; always without aliasing
  bicubic,  ///< Keys' kernel (Catmull-Rom)
};
std::string_view to_string(resize_method m);

struct resize_options {
  int height = 0, width = 0;
  resize_method method = resize_method::bilinear;
  /// When it gets smaller, a pixel is made of all those that it covers. Without, of two (bicubic: four) in each direction.
  bool antialias = false;
  bool preserve_aspect_ratio = false;  ///< height and width are what the result has at most (one of them is reached)
  /// The result has the type of the pixels, rounded and clamped; otherwise it is float32.
  bool rounded = false;
};

/// Half-pixel centres, as TensorFlow 2's tf.image.resize. Two passes of one dimension; columns that no pixel of the result needs
/// are not read.
result<tensor> resize(const image_view& pixels, const resize_options& options);
result<image_spec> resize(const image_view& pixels, const resize_options& options, pixel_sink to);

// --- Parts --------------------------------------------------------------------------------------------------------

/// Errors: invalid_argument, unless the box is inside and not empty.
result<tensor> crop(const image_view& pixels, const image_box& box);
result<image_spec> crop(const image_view& pixels, const image_box& box, pixel_sink to);
/// The same as a view, without a copy.
result<image_view> crop_view(const image_view& pixels, const image_box& box);
/// The middle part, as tf.image.central_crop: `fraction` of the height and of the width, 0 < fraction <= 1.
result<tensor> central_crop(const image_view& pixels, double fraction);
result<image_spec> central_crop(const image_view& pixels, double fraction, pixel_sink to);
result<image_box> central_crop_box(const image_spec& spec, double fraction);
/// A view's pixels without gaps between the rows.
result<tensor> copy_pixels(const image_view& pixels);
result<image_spec> copy_pixels(const image_view& pixels, pixel_sink to);

result<tensor> flip_left_right(const image_view& pixels);
result<image_spec> flip_left_right(const image_view& pixels, pixel_sink to);
result<tensor> flip_up_down(const image_view& pixels);
result<image_spec> flip_up_down(const image_view& pixels, pixel_sink to);

// --- Colours ------------------------------------------------------------------------------------------------------
// Integers are computed as float32 in [0, 1], clamped, and turned back as TensorFlow does it.

struct colour_changes {
  float brightness = 0;  ///< added
  float contrast = 1;    ///< factor of the distance from the channel's mean
  float saturation = 1;  ///< factor; of 3 channels only
  float hue = 0;         ///< added, of a turn of 1; -1 … 1; of 3 channels only
};

/// Those that are not the default, in the order above; turned into the type of the pixels once, at the end.
result<tensor> adjust_colours(const image_view& pixels, const colour_changes& changes);
result<image_spec> adjust_colours(const image_view& pixels, const colour_changes& changes, pixel_sink to);

/// One of them.
result<tensor> adjust_brightness(const image_view& pixels, float delta);
result<tensor> adjust_contrast(const image_view& pixels, float factor);
result<tensor> adjust_saturation(const image_view& pixels, float factor);
result<tensor> adjust_hue(const image_view& pixels, float delta);

/// float32: (x - mean[c]) / deviation[c], in units of the pixels. Errors: invalid_argument, unless there is one mean and one
/// deviation, which is not 0, for each channel.
result<tensor> normalize(const image_view& pixels, std::span<const float> mean, std::span<const float> deviation);
result<image_spec> normalize(const image_view& pixels, std::span<const float> mean, std::span<const float> deviation,
                             pixel_sink to);

// --- Random -------------------------------------------------------------------------------------------------------

/// Where each place is equally likely. Draws 2 words. Errors: a box that does not fit.
result<image_box> random_crop_box(const image_spec& spec, int height, int width, random_source& random);
/// That box.
result<tensor> random_crop(const image_view& pixels, int height, int width, random_source& random);
result<image_spec> random_crop(const image_view& pixels, int height, int width, random_source& random, pixel_sink to);

struct random_box_options {
  double area_min = 0.08, area_max = 1;             ///< of the image's
  double ratio_min = 3.0 / 4, ratio_max = 4.0 / 3;  ///< width to height; the logarithm is uniform
};

/// A box of random area and form at a random place; after ten that do not fit the largest one in the middle whose form is allowed.
/// Draws 40 words.
result<image_box> random_resized_crop_box(const image_spec& spec, const random_box_options& options,
                                          random_source& random);

struct random_resized_crop_options {
  resize_options size;
  random_box_options box = {};
};

/// That box, resized.
result<tensor> random_resized_crop(const image_view& pixels, const random_resized_crop_options& options,
                                   random_source& random);
result<image_spec> random_resized_crop(const image_view& pixels, const random_resized_crop_options& options,
                                       random_source& random, pixel_sink to);

/// Every second time. Draw 1 word.
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

/// Uniform within these. Draws 4 words. Errors: invalid_argument where a minimum is above its maximum, or below 0.
result<colour_changes> random_colours(const colour_jitter_options& options, random_source& random);
/// As tf.image's random_brightness, random_contrast, random_saturation and random_hue, in this order.
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
