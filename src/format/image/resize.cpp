// SPDX-License-Identifier: Apache-2.0
// Resizes in two passes. The first adds the input rows of an output row up to one row of floats, as wide as the input.
// The second computes the pixels from the columns of that row. The first has long loops without branches over adjacent
// memory, which compilers vectorize; the second processes a pixel of three or four channels as one vector.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "format/image/image_checks.hpp"
#include "format/image/resize_weights.hpp"
#include "sluice/format/image_transforms.hpp"

namespace sluice::lib {
namespace detail {
namespace {

constexpr std::string_view kResizeFunction = "resize";
constexpr std::size_t kPixelFloats = 4;  // read and written at once

typedef float four_floats __attribute__((vector_size(16)));

four_floats load4(const float* p) noexcept {
  four_floats v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// Computes sum[i] = or += Σ weights[t] · rows[t][i], four rows at a time.
template <class T, int kRows, bool kAdds>
void add_rows(const T* const* rows, const float* weights, float* __restrict sum, std::size_t count) noexcept {
  const T* const a = rows[0];
  const T* const b = rows[kRows > 1 ? 1 : 0];
  const T* const c = rows[kRows > 2 ? 2 : 0];
  const T* const d = rows[kRows > 3 ? 3 : 0];
  const float w0 = weights[0], w1 = kRows > 1 ? weights[1] : 0, w2 = kRows > 2 ? weights[2] : 0,
              w3 = kRows > 3 ? weights[3] : 0;
  for (std::size_t i = 0; i != count; ++i) {
    float s = w0 * static_cast<float>(a[i]);
    if constexpr (kRows > 1) s += w1 * static_cast<float>(b[i]);
    if constexpr (kRows > 2) s += w2 * static_cast<float>(c[i]);
    if constexpr (kRows > 3) s += w3 * static_cast<float>(d[i]);
    sum[i] = kAdds ? sum[i] + s : s;
  }
}

template <class T, bool kAdds>
void add_up_to_four(const T* const* rows, const float* weights, int taps, float* sum, std::size_t count) noexcept {
  switch (taps) {
    case 1: return add_rows<T, 1, kAdds>(rows, weights, sum, count);
    case 2: return add_rows<T, 2, kAdds>(rows, weights, sum, count);
    case 3: return add_rows<T, 3, kAdds>(rows, weights, sum, count);
    default: return add_rows<T, 4, kAdds>(rows, weights, sum, count);
  }
}

/// The first pass: adds up one row from `taps` rows of `pixels`.
template <class T>
void sum_rows(const image_view& pixels, int first_row, const float* weights, int taps, std::size_t first_value,
              std::size_t count, float* sum) noexcept {
  const T* rows[4];
  for (int t = 0; t < taps; t += 4) {
    const int now = std::min(taps - t, 4);
    for (int i = 0; i != now; ++i) rows[i] = reinterpret_cast<const T*>(pixels.row(first_row + t + i)) + first_value;
    if (t == 0) add_up_to_four<T, false>(rows, weights, now, sum, count);
    else add_up_to_four<T, true>(rows, weights + t, now, sum, count);
  }
}

/// The second pass for three or four channels. It writes kPixelFloats for each pixel, so one float beyond the end with
/// three channels.
template <int kTaps>
void sum_wide_pixels(const float* row, const resize_weights& w, int begin, int channels, float* out) noexcept {
  const int taps = kTaps != 0 ? kTaps : w.taps;
  const float* weights = w.weights.data();
  for (int start : w.starts) {
    const float* from = row + static_cast<std::ptrdiff_t>(start - begin) * channels;
    four_floats sum = weights[0] * load4(from);
    for (int t = 1; t < taps; ++t) sum += weights[t] * load4(from + static_cast<std::ptrdiff_t>(t) * channels);
    std::memcpy(out, &sum, sizeof sum);
    weights += taps;
    out += channels;
  }
}

void sum_narrow_pixels(const float* row, const resize_weights& w, int begin, int channels, float* out) noexcept {
  const float* weights = w.weights.data();
  for (int start : w.starts) {
    const float* from = row + static_cast<std::ptrdiff_t>(start - begin) * channels;
    for (int c = 0; c != channels; ++c) {
      float sum = weights[0] * from[c];
      for (int t = 1; t < w.taps; ++t) sum += weights[t] * from[static_cast<std::ptrdiff_t>(t) * channels + c];
      *out++ = sum;
    }
    weights += w.taps;
  }
}

void sum_columns(const float* row, const resize_weights& w, int begin, int channels, float* out) noexcept {
  if (channels != 3 && channels != 4) return sum_narrow_pixels(row, w, begin, channels, out);
  switch (w.taps) {
    case 1: return sum_wide_pixels<1>(row, w, begin, channels, out);
    case 2: return sum_wide_pixels<2>(row, w, begin, channels, out);
    case 4: return sum_wide_pixels<4>(row, w, begin, channels, out);
    default: return sum_wide_pixels<0>(row, w, begin, channels, out);
  }
}

template <class T> void round_row(const float* in, T* out, std::size_t count) noexcept {
  constexpr float kMost = std::is_same_v<T, std::uint8_t> ? 255.0f : 65535.0f;
  for (std::size_t i = 0; i != count; ++i)
    out[i] = static_cast<T>(static_cast<std::int32_t>(std::min(std::max(in[i] + 0.5f, 0.0f), kMost)));
}

void store_row(const float* row, lib::dtype type, std::uint8_t* to, std::size_t count) noexcept {
  if (type == dtype::uint8) round_row(row, to, count);
  else if (type == dtype::uint16) round_row(row, reinterpret_cast<std::uint16_t*>(to), count);
  else std::memcpy(to, row, count * sizeof(float));
}

template <class T>
void resize_weighted(const image_view& pixels, const resize_weights& rows, const resize_weights& columns,
                     const image_spec& spec, std::uint8_t* to) {
  const int begin = columns.begin();
  const auto channels = static_cast<std::size_t>(pixels.channels);
  const std::size_t first_value = static_cast<std::size_t>(begin) * channels,
                    in_values = static_cast<std::size_t>(columns.end() - begin) * channels,
                    out_values = static_cast<std::size_t>(spec.width) * channels;
  // With three channels the last pixel reads and writes one float more.
  auto memory = std::make_unique_for_overwrite<float[]>(in_values + out_values + 2 * kPixelFloats);
  float* const in_row = memory.get();
  float* const out_row = in_row + in_values + kPixelFloats;
  std::fill_n(in_row + in_values, kPixelFloats, 0.0f);
  for (std::size_t y = 0; y != static_cast<std::size_t>(spec.height); ++y, to += spec.row_bytes()) {
    sum_rows<T>(pixels, rows.starts[y], rows.of(y), rows.taps, first_value, in_values, in_row);
    sum_columns(in_row, columns, begin, pixels.channels, out_row);
    store_row(out_row, spec.type, to, out_values);
  }
}

// Scales bytes with two neighbors in each direction, RGB or RGBA, in integers. The first pass keeps 8 fractional bits
// in 16, so that a vector has twice as many values. Its weights are rounded to 1/256, so the result differs from the
// exact one by at most 1.

typedef std::uint8_t eight_bytes __attribute__((vector_size(8)));
typedef std::uint16_t eight_shorts __attribute__((vector_size(16)));

constexpr int kRowBits = 8, kColumnBits = 14;
constexpr std::uint16_t kMiddle = 1 << 15;  // subtracted to make 16 bits signed, for pmaddwd

void mix_rows(const std::uint8_t* a, const std::uint8_t* b, int weight_b, std::uint16_t* mixed,
              std::size_t count) noexcept {
  const auto wb = static_cast<std::uint16_t>(weight_b), wa = static_cast<std::uint16_t>((1 << kRowBits) - weight_b);
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {  // explicit vectors, since compilers would compute in 32 bits
    eight_bytes va, vb;
    std::memcpy(&va, a + i, sizeof va);
    std::memcpy(&vb, b + i, sizeof vb);
    const eight_shorts sum =
        __builtin_convertvector(va, eight_shorts) * wa + __builtin_convertvector(vb, eight_shorts) * wb;
    const eight_shorts made = sum ^ kMiddle;
    std::memcpy(mixed + i, &made, sizeof made);
  }
  for (; i != count; ++i) mixed[i] = static_cast<std::uint16_t>((a[i] * wa + b[i] * wb) ^ kMiddle);
}

/// One output pixel: the offset of its inputs in the row, and the two weights.
struct column_pair {
  std::uint32_t at;
  std::int16_t weights[2];
};

std::vector<column_pair> column_pairs(const resize_weights& w, int begin, int channels) {
  std::vector<column_pair> pairs;
  pairs.reserve(w.starts.size());
  for (std::size_t x = 0; x != w.starts.size(); ++x) {
    const auto second = static_cast<std::int16_t>(std::lround(w.of(x)[1] * (1 << kColumnBits)));
    pairs.push_back({static_cast<std::uint32_t>((w.starts[x] - begin) * channels),
                     {static_cast<std::int16_t>((1 << kColumnBits) - second), second}});
  }
  return pairs;
}

/// Writes four bytes for each pixel, so one byte beyond the end with three channels; reads four bytes of `row`.
void mix_pixels(const std::uint16_t* row, const std::vector<column_pair>& pairs, int channels,
                std::uint8_t* out) noexcept {
  constexpr int kBits = kRowBits + kColumnBits;
  constexpr std::int32_t kBias =
      (std::int32_t{kMiddle} << kColumnBits) + (1 << (kBits - 1));  // adds kMiddle back, and rounds
  for (const column_pair& p : pairs) {
    const std::uint16_t *a = row + p.at, *b = a + channels;
#if defined(__SSE2__)
    std::int32_t weights;
    std::memcpy(&weights, p.weights, sizeof weights);
    const __m128i both = _mm_unpacklo_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(a)),
                                            _mm_loadl_epi64(reinterpret_cast<const __m128i*>(b)));
    const __m128i sum = _mm_add_epi32(_mm_madd_epi16(both, _mm_set1_epi32(weights)), _mm_set1_epi32(kBias));
    const __m128i shorts = _mm_packs_epi32(_mm_srai_epi32(sum, kBits), _mm_setzero_si128());
    const std::int32_t pixel = _mm_cvtsi128_si32(_mm_packus_epi16(shorts, shorts));
    std::memcpy(out, &pixel, sizeof pixel);
#else
    for (std::size_t c = 0; c != 4; ++c)
      out[c] = static_cast<std::uint8_t>(
          (static_cast<std::int16_t>(a[c]) * p.weights[0] + static_cast<std::int16_t>(b[c]) * p.weights[1] + kBias) >>
          kBits);
#endif
    out += channels;
  }
}

void resize_bytes(const image_view& pixels, const resize_weights& rows, const resize_weights& columns,
                  const image_spec& spec, std::uint8_t* to) {
  const int begin = columns.begin();
  const auto channels = static_cast<std::size_t>(pixels.channels);
  const std::size_t first_value = static_cast<std::size_t>(begin) * channels,
                    in_values = static_cast<std::size_t>(columns.end() - begin) * channels;
  const std::vector<column_pair> pairs = column_pairs(columns, begin, pixels.channels);
  auto mixed = std::make_unique_for_overwrite<std::uint16_t[]>(in_values + kPixelFloats);
  auto row = std::make_unique_for_overwrite<std::uint8_t[]>(spec.row_bytes() + kPixelFloats);
  std::fill_n(mixed.get() + in_values, kPixelFloats, kMiddle);
  for (std::size_t y = 0; y != static_cast<std::size_t>(spec.height); ++y, to += spec.row_bytes()) {
    const std::uint8_t* a = pixels.row(rows.starts[y]) + first_value;
    const std::uint8_t* b = pixels.row(rows.starts[y] + 1) + first_value;
    mix_rows(a, b, static_cast<int>(std::lround(rows.of(y)[1] * (1 << kRowBits))), mixed.get(), in_values);
    mix_pixels(mixed.get(), pairs, pixels.channels, row.get());
    std::memcpy(to, row.get(), spec.row_bytes());
  }
}

template <std::size_t kBytes>
void pick_pixels(const std::uint8_t* row, const std::vector<int>& inputs, std::size_t pixel,
                 std::uint8_t* to) noexcept {
  const std::size_t size = kBytes != 0 ? kBytes : pixel;
  for (int x : inputs) {
    std::memcpy(to, row + static_cast<std::size_t>(x) * size, size);
    to += size;
  }
}

void resize_nearest(const image_view& pixels, const image_spec& spec, std::uint8_t* to) {
  const std::vector<int> rows = nearest_inputs(pixels.height, spec.height);
  const std::vector<int> columns = nearest_inputs(pixels.width, spec.width);
  const std::size_t pixel = static_cast<std::size_t>(spec.channels) * size_bytes(spec.type);
  for (std::size_t y = 0; y != rows.size(); ++y, to += spec.row_bytes()) {
    if (y != 0 && rows[y] == rows[y - 1]) {
      std::memcpy(to, to - spec.row_bytes(), spec.row_bytes());
      continue;
    }
    const std::uint8_t* row = pixels.row(rows[y]);
    switch (pixel) {
      case 1: pick_pixels<1>(row, columns, pixel, to); break;
      case 3: pick_pixels<3>(row, columns, pixel, to); break;
      case 4: pick_pixels<4>(row, columns, pixel, to); break;
      default: pick_pixels<0>(row, columns, pixel, to);
    }
  }
}

/// Computes the size in float, as TensorFlow does.
image_spec resized_spec(const image_view& pixels, const resize_options& o) {
  image_spec spec{.height = o.height, .width = o.width, .channels = pixels.channels, .type = dtype::float32};
  if (o.rounded || o.method == resize_method::nearest) spec.type = pixels.type;
  if (o.preserve_aspect_ratio) {
    const float height = static_cast<float>(pixels.height), width = static_cast<float>(pixels.width);
    const float scale = std::min(static_cast<float>(o.height) / height, static_cast<float>(o.width) / width);
    spec.height = std::max(1, static_cast<int>(std::nearbyint(scale * height)));
    spec.width = std::max(1, static_cast<int>(std::nearbyint(scale * width)));
  }
  return spec;
}

}  // namespace
}  // namespace detail

std::string_view to_string(resize_method m) {
  switch (m) {
    case resize_method::nearest: return "nearest";
    case resize_method::bilinear: return "bilinear";
    case resize_method::area: return "area";
    case resize_method::bicubic: return "bicubic";
  }
  return "unknown";
}

result<tensor> resize(const image_view& pixels, const resize_options& options) {
  return detail::into_tensor([&](pixel_sink to) { return resize(pixels, options, to); });
}

result<image_spec> resize(const image_view& pixels, const resize_options& o, pixel_sink to) {
  using namespace detail;
  if (status why = check_pixels(kResizeFunction, pixels); !why.ok()) return why;
  if (o.height <= 0 || o.width <= 0)
    return image_error(kResizeFunction, absl::StrCat("a size of ", o.height, " x ", o.width));
  const image_spec spec = resized_spec(pixels, o);
  if (status why = check_result(kResizeFunction, spec, {}); !why.ok()) return why;
  result<std::uint8_t*> out = to.room(spec);
  if (!out.ok()) return out.why();
  if (o.method == resize_method::nearest) {
    resize_nearest(pixels, spec, *out);
    return spec;
  }
  const resize_weights rows = make_resize_weights(pixels.height, spec.height, o.method, o.antialias);
  const resize_weights columns = make_resize_weights(pixels.width, spec.width, o.method, o.antialias);
  if (o.method == resize_method::bilinear && spec.type == dtype::uint8 && rows.taps == 2 && columns.taps == 2 &&
      (pixels.channels == 3 || pixels.channels == 4))
    resize_bytes(pixels, rows, columns, spec, *out);
  else if (pixels.type == dtype::uint8) resize_weighted<std::uint8_t>(pixels, rows, columns, spec, *out);
  else if (pixels.type == dtype::uint16) resize_weighted<std::uint16_t>(pixels, rows, columns, spec, *out);
  else resize_weighted<float>(pixels, rows, columns, spec, *out);
  return spec;
}

}  // namespace sluice::lib
