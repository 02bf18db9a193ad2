// SPDX-License-Identifier: Apache-2.0
// Decodes JPEG with libjpeg-turbo's libjpeg API.
//
// libjpeg reports an error by calling a function that must not return; this one jumps back to guarded(). The jump
// leaves frames of libjpeg, and of lambdas that contain trivial objects only. Objects with destructors are outside
// these frames.
#include "sluice/format/image_codecs.hpp"

#include "format/image/image_checks.hpp"

#if SLUICE_HAVE_JPEG
#include <algorithm>
#include <csetjmp>
#include <cstdio>  // must precede jpeglib.h
#include <cstring>
#include <memory>

#include <absl/strings/str_cat.h>
#include <jpeglib.h>

#include "format/image/orientation.hpp"
#endif

namespace sluice::lib {

int jpeg_ratio_for(int height, int width, int height_min, int width_min) noexcept {
  if (height_min <= 0 || width_min <= 0) return 1;
  // libjpeg rounds up.
  for (int ratio : {8, 4, 2})
    if ((height + ratio - 1) / ratio >= height_min && (width + ratio - 1) / ratio >= width_min) return ratio;
  return 1;
}

result<tensor> decode_jpeg(std::string_view encoded, const jpeg_options& options) {
  return detail::into_tensor([&](pixel_sink to) { return decode_jpeg(encoded, options, to); });
}

#if !SLUICE_HAVE_JPEG

result<image_spec> decode_jpeg(std::string_view, const jpeg_options&, pixel_sink) {
  return detail::image_unavailable("decode_jpeg", "libjpeg");
}

#else

namespace detail {
namespace {

constexpr std::string_view kJpegFunction = "decode_jpeg";
// The limit of a progressive file's scans, each of which takes a pass over the whole image. Encoders write some ten.
constexpr int kJpegScansMax = 500;
constexpr JDIMENSION kJpegRowsAtOnce = 16;
// A block of 64 pixels takes at least two bits; half a bit, if there are two components without the full resolution.
constexpr std::uint64_t kPixelsPerByteMax = 64 * 8 * 2;
constexpr int kExifMarker = JPEG_APP0 + 1;

class jpeg_decoder {
 public:
  explicit jpeg_decoder(std::string_view encoded, bool recovers) noexcept : encoded_(encoded), recovers_(recovers) {
    c_.err = jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr c) {
      auto* self = static_cast<jpeg_decoder*>(c->client_data);
      if (self->message_[0] == '\0') c->err->format_message(c, self->message_);
      std::longjmp(self->jump_, 1);
    };
    errors_.emit_message = [](j_common_ptr c, int level) {  // warnings, which libjpeg would print
      if (level < 0) ++c->err->num_warnings;
    };
    errors_.output_message = [](j_common_ptr) {};
    c_.client_data = this;
    source_.init_source = [](j_decompress_ptr) {};
    source_.term_source = [](j_decompress_ptr) {};
    source_.resync_to_restart = jpeg_resync_to_restart;
    source_.fill_input_buffer = [](j_decompress_ptr c) -> boolean {
      return static_cast<jpeg_decoder*>(c->client_data)->fill();
    };
    source_.skip_input_data = [](j_decompress_ptr c, long bytes) {
      jpeg_source_mgr& s = *c->src;
      if (bytes <= 0) return;
      const auto n = static_cast<std::size_t>(bytes);
      const std::size_t skipped = n < s.bytes_in_buffer ? n : s.bytes_in_buffer;
      s.next_input_byte += skipped;
      s.bytes_in_buffer -= skipped;
      if (skipped < n) static_cast<jpeg_decoder*>(c->client_data)->fill();
    };
    progress_.progress_monitor = [](j_common_ptr c) {
      if (c->is_decompressor && reinterpret_cast<j_decompress_ptr>(c)->input_scan_number > kJpegScansMax) {
        auto* self = static_cast<jpeg_decoder*>(c->client_data);
        std::snprintf(self->message_, sizeof self->message_, "more than %d scans", kJpegScansMax);
        std::longjmp(self->jump_, 1);
      }
    };
  }
  jpeg_decoder(const jpeg_decoder&) = delete;
  ~jpeg_decoder() {
    if (created_) jpeg_destroy_decompress(&c_);
  }

  jpeg_decompress_struct& libjpeg() noexcept { return c_; }
  std::size_t at_byte() const noexcept {
    return c_.src && !at_inserted_end_ ? encoded_.size() - source_.bytes_in_buffer : encoded_.size();
  }
  status why() const {
    if (ended_ && !recovers_) return image_truncated(kJpegFunction, encoded_.size());
    return image_damage(kJpegFunction, message_, at_byte());
  }

  /// Calls f, which calls libjpeg and has no object with a destructor. Returns false if libjpeg failed: why() returns
  /// the reason.
  template <class F> bool guarded(F f) {
    if (setjmp(jump_)) return false;  // NOLINT: see the top of this file
    f();
    return true;
  }

  bool create(std::size_t memory_bytes_max) {
    return guarded([&] {
      jpeg_create_decompress(&c_);
      created_ = true;
      c_.mem->max_memory_to_use = static_cast<long>(memory_bytes_max);
      c_.progress = &progress_;
      c_.src = &source_;
      source_.next_input_byte = reinterpret_cast<const JOCTET*>(encoded_.data());
      source_.bytes_in_buffer = encoded_.size();
    });
  }
  /// Returns true if libjpeg needed bytes after the end of the data.
  bool ended() const noexcept { return ended_; }
  /// Declares that all pixels were read, so that missing bytes after them are not damage.
  void set_complete() noexcept { complete_ = true; }

 private:
  /// Called by libjpeg at the end of the data when it needs more.
  boolean fill() {
    ended_ = true;
    if (complete_) return FALSE;
    if (!recovers_) std::longjmp(jump_, 1);
    if (at_inserted_end_) return FALSE;
    static constexpr JOCTET kEnd[2] = {0xff, JPEG_EOI};
    at_inserted_end_ = true;
    source_.next_input_byte = kEnd;
    source_.bytes_in_buffer = sizeof kEnd;
    return TRUE;
  }

  std::string_view encoded_;
  bool recovers_;
  bool created_ = false, ended_ = false, at_inserted_end_ = false, complete_ = false;
  jpeg_decompress_struct c_ = {};
  jpeg_error_mgr errors_ = {};
  jpeg_source_mgr source_ = {};
  jpeg_progress_mgr progress_ = {};
  char message_[JMSG_LENGTH_MAX] = {};
  std::jmp_buf jump_ = {};
};

/// The destination of each row: the rows of the box among those that libjpeg returns.
struct jpeg_rows {
  std::uint8_t* out = nullptr;
  std::size_t out_row_bytes = 0;
  JDIMENSION begin = 0, end = 0;   // rows
  std::size_t skipped_pixels = 0;  // at the left, because libjpeg begins at a block
  std::uint8_t* row = nullptr;     // memory for a row that is copied afterwards
  // libjpeg counts the rows of one call only if all are complete.
  JDIMENSION at_once = kJpegRowsAtOnce;
};

/// jpeg_crop_scanline() calculates the width of a component as if it were scaled like the image. That is wrong for one
/// that is scaled less because of its lower resolution, and matters unless it then has the image's full resolution.
bool can_crop_columns(const jpeg_decompress_struct& c) {
  for (int i = 0; i != c.num_components; ++i) {
    const jpeg_component_info& part = c.comp_info[i];
    const bool is_full = part.h_samp_factor * part.DCT_scaled_size == c.max_h_samp_factor * c.min_DCT_scaled_size &&
                         part.v_samp_factor * part.DCT_scaled_size == c.max_v_samp_factor * c.min_DCT_scaled_size;
    if (part.DCT_scaled_size != c.min_DCT_scaled_size && !is_full) return false;
  }
  return true;
}

/// Limits libjpeg to the columns of `box` and those that their pixels depend on. Called inside guarded(). Returns the
/// first column that libjpeg will return.
///
/// libjpeg treats the first and last decoded column as the edges of the image. Interpolation of colors reads one sample
/// next to the pixel's own. Smoothing, of a progressive image without all scans, reads two more blocks.
JDIMENSION crop_jpeg_columns(jpeg_decompress_struct& c, const image_box& box) {
  if (!can_crop_columns(c)) return 0;
  const auto sample = static_cast<JDIMENSION>(c.max_h_samp_factor);
  const JDIMENSION margin =
      c.progressive_mode ? 3 * sample * static_cast<JDIMENSION>(c.min_DCT_scaled_size) : 2 * sample;
  const auto begin = static_cast<JDIMENSION>(box.x), end = begin + static_cast<JDIMENSION>(box.width);
  JDIMENSION x = begin < margin ? 0 : begin - margin;
  JDIMENSION width = (c.output_width - end < margin ? c.output_width : end + margin) - x;
  if (width != c.output_width) jpeg_crop_scanline(&c, &x, &width);
  return x;
}

/// The same as TensorFlow: Adobe's values are inverted.
void cmyk_to_rgb(const std::uint8_t* in, std::uint8_t* out, std::size_t pixels, bool inverted) {
  const int flip = inverted ? 0 : 255;
  for (std::size_t i = 0; i != pixels; ++i, in += 4, out += 3) {
    const int k = flip ^ in[3];
    for (int j = 0; j != 3; ++j) out[j] = static_cast<std::uint8_t>(k * (flip ^ in[j]) / 255);
  }
}

/// Reads the rows up to the last one of the box. Called inside guarded().
void read_jpeg_rows(jpeg_decompress_struct& c, const jpeg_rows& r, bool recovers) {
  const bool cmyk = c.out_color_space == JCS_CMYK;
  // Rows above the box are read only to recover: the first row of the box may be missing, and repeats the row above it.
  const auto place = [&r](JDIMENSION y) { return r.out + (y > r.begin ? y - r.begin : 0) * r.out_row_bytes; };
  while (c.output_scanline < r.end) {
    JDIMENSION read, y = c.output_scanline;
    if (r.row) {
      JSAMPROW row = r.row;
      read = jpeg_read_scanlines(&c, &row, 1);
      if (read != 0) {
        const std::uint8_t* from = r.row + r.skipped_pixels * static_cast<std::size_t>(c.output_components);
        if (cmyk) cmyk_to_rgb(from, place(y), r.out_row_bytes / 3, c.saw_Adobe_marker);
        else std::memcpy(place(y), from, r.out_row_bytes);
      }
    } else {
      JSAMPROW rows[kJpegRowsAtOnce];
      const JDIMENSION left = r.end - y;
      const JDIMENSION wanted = left < r.at_once ? left : r.at_once;
      for (JDIMENSION i = 0; i != wanted; ++i) rows[i] = place(y + i);
      read = jpeg_read_scanlines(&c, rows, wanted);
    }
    if (read != 0) continue;
    if (!recovers) return;
    for (; y < r.end; ++y) {  // the rest of the data is missing
      if (y == 0) std::memset(place(0), 0, r.out_row_bytes);
      else if (place(y) != place(y - 1)) std::memcpy(place(y), place(y - 1), r.out_row_bytes);
    }
    c.output_scanline = r.end;
  }
}

int exif_orientation_of(const jpeg_decompress_struct& c) {
  for (const jpeg_marker_struct* m = c.marker_list; m; m = m->next)
    if (m->marker == kExifMarker)
      if (int o = exif_orientation({reinterpret_cast<const char*>(m->data), m->data_length})) return o;
  return 1;
}

/// Sets colors and size of the output according to the options.
status choose_jpeg_output(jpeg_decoder& d, const jpeg_options& o) {
  jpeg_decompress_struct& c = d.libjpeg();
  const int channels = o.channels != 0 ? o.channels : c.num_components < 3 ? c.num_components : 3;
  if (channels != 1 && channels != 3) return image_error(kJpegFunction, "an image of 2 components");
  const bool cmyk = c.jpeg_color_space == JCS_CMYK || c.jpeg_color_space == JCS_YCCK;
  if (cmyk && channels == 1) return image_error(kJpegFunction, "CMYK does not become grey: `channels` must be 0 or 3");
  c.out_color_space = channels == 1 ? JCS_GRAYSCALE : cmyk ? JCS_CMYK : JCS_RGB;
  c.do_fancy_upsampling = o.fancy_upscaling;
  c.scale_num = 1;
  c.scale_denom = static_cast<unsigned>(
      o.height_min != 0 || o.width_min != 0
          ? jpeg_ratio_for(static_cast<int>(c.image_height), static_cast<int>(c.image_width), o.height_min, o.width_min)
          : o.ratio);
  c.dct_method = o.dct == jpeg_dct::fast ? JDCT_IFAST : JDCT_ISLOW;
  if (!d.guarded([&] { jpeg_calc_output_dimensions(&c); })) return d.why();
  return {};
}

status check_jpeg_options(const jpeg_options& o) {
  if (o.channels != 0 && o.channels != 1 && o.channels != 3)
    return image_error(kJpegFunction, absl::StrCat("channels must be 0, 1 or 3, not ", o.channels));
  if (o.ratio != 1 && o.ratio != 2 && o.ratio != 4 && o.ratio != 8)
    return image_error(kJpegFunction, absl::StrCat("ratio must be 1, 2, 4 or 8, not ", o.ratio));
  if (!(o.acceptable_fraction >= 0 && o.acceptable_fraction <= 1))
    return image_error(kJpegFunction, absl::StrCat("acceptable_fraction must be 0 to 1, not ", o.acceptable_fraction));
  if (o.apply_orientation && !o.crop.is_all())
    return image_error(kJpegFunction, "crop and apply_orientation do not go together; crop the result");
  return {};
}

status read_jpeg_box(jpeg_decoder& d, const jpeg_options& o, const image_box& box, const image_spec& spec,
                     std::uint8_t* out) {
  jpeg_decompress_struct& c = d.libjpeg();
  bool started = false;  // with `try_recover_truncated`, false also means that the data ended before
  if (!d.guarded([&] { started = jpeg_start_decompress(&c); })) return d.why();
  if (!started) return image_truncated(kJpegFunction, d.at_byte());
  jpeg_rows rows{.out = out, .out_row_bytes = spec.row_bytes()};
  if (o.acceptable_fraction < 1) rows.at_once = 1;
  rows.begin = static_cast<JDIMENSION>(box.y);
  rows.end = rows.begin + static_cast<JDIMENSION>(box.height);
  if (!o.crop.is_all()) {
    JDIMENSION x = 0;
    bool done = d.guarded([&] {
      x = crop_jpeg_columns(c, box);
      if (!o.try_recover_truncated && rows.begin != 0) jpeg_skip_scanlines(&c, rows.begin);
    });
    if (!done) return d.why();
    if (!o.try_recover_truncated && c.output_scanline != rows.begin) return image_truncated(kJpegFunction, d.at_byte());
    rows.skipped_pixels = static_cast<std::size_t>(box.x) - x;
  }
  std::unique_ptr<std::uint8_t[]> row;
  if (c.out_color_space == JCS_CMYK || c.output_width != static_cast<JDIMENSION>(box.width)) {
    row = std::make_unique_for_overwrite<std::uint8_t[]>(static_cast<std::size_t>(c.output_width) *
                                                         static_cast<std::size_t>(c.output_components));
    rows.row = row.get();
  }
  if (!d.guarded([&] { read_jpeg_rows(c, rows, o.try_recover_truncated); })) return d.why();
  if (c.output_scanline < rows.end) return image_truncated(kJpegFunction, d.at_byte());
  d.set_complete();
  // The bytes after the last row may be damaged, too. They are not checked below a crop.
  if (c.output_scanline == c.output_height && !d.guarded([&] { jpeg_finish_decompress(&c); })) return d.why();
  return {};
}

/// Writes the pixels of `box`, without gaps, to `out`.
status decode_jpeg_rows(jpeg_decoder& d, const jpeg_options& o, const image_box& box, const image_spec& spec,
                        std::uint8_t* out) {
  status why = read_jpeg_box(d, o, box, spec, out);
  if (why.ok() || o.acceptable_fraction == 1 || !d.ended()) return why;
  const auto begin = static_cast<JDIMENSION>(box.y), height = static_cast<JDIMENSION>(box.height);
  const JDIMENSION at = d.libjpeg().output_scanline, complete = at > begin ? std::min(at - begin, height) : 0;
  if (complete < o.acceptable_fraction * height) return why;
  std::memset(out + complete * spec.row_bytes(), 0, (height - complete) * spec.row_bytes());
  return {};
}

}  // namespace
}  // namespace detail

result<image_spec> decode_jpeg(std::string_view encoded, const jpeg_options& options, pixel_sink to) {
  using namespace detail;
  if (status why = check_jpeg_options(options); !why.ok()) return why;
  if (status why = check_encoded(kJpegFunction, encoded, options.limits); !why.ok()) return why;
  if (image_format_of(encoded) != image_format::jpeg) return image_error(kJpegFunction, "these bytes are no JPEG");
  jpeg_decoder d(encoded, options.try_recover_truncated);
  // The coefficients of a progressive file take two bytes each, for up to four components with up to the full
  // resolution.
  if (!d.create(options.limits.bytes_max)) return d.why();
  jpeg_decompress_struct& c = d.libjpeg();
  int read = JPEG_SUSPENDED;  // the data ends within the header
  bool done = d.guarded([&] {
    if (options.apply_orientation) jpeg_save_markers(&c, kExifMarker, 0xffff);
    read = jpeg_read_header(&c, TRUE);
  });
  if (!done) return d.why();
  if (read != JPEG_HEADER_OK) return image_truncated(kJpegFunction, encoded.size());
  if (status why = check_size(kJpegFunction, c.image_height, c.image_width, 1, options.limits); !why.ok()) return why;
  if (!c.arith_code && !options.try_recover_truncated &&
      static_cast<double>(std::uint64_t{c.image_height} * c.image_width / kPixelsPerByteMax) *
              options.acceptable_fraction >
          static_cast<double>(encoded.size()))
    return image_truncated(kJpegFunction, encoded.size());
  if (status why = choose_jpeg_output(d, options); !why.ok()) return why;

  const int height = static_cast<int>(c.output_height), width = static_cast<int>(c.output_width);
  const image_box box = options.crop.is_all() ? image_box{0, 0, height, width} : options.crop;
  if (status why = check_box(kJpegFunction, box, height, width); !why.ok()) return why;
  image_spec spec{.height = box.height, .width = box.width, .channels = c.out_color_space == JCS_GRAYSCALE ? 1 : 3};
  if (status why = check_result(kJpegFunction, spec, options.limits); !why.ok()) return why;

  const int orientation = options.apply_orientation ? exif_orientation_of(c) : 1;
  const image_spec turned = oriented(spec, orientation);
  result<std::uint8_t*> out = to.room(turned);
  if (!out.ok()) return out.why();
  if (orientation == 1) {
    if (status why = decode_jpeg_rows(d, options, box, spec, *out); !why.ok()) return why;
  } else {
    auto upright = std::make_unique_for_overwrite<std::uint8_t[]>(spec.bytes());
    if (status why = decode_jpeg_rows(d, options, box, spec, upright.get()); !why.ok()) return why;
    orient(image_view(upright.get(), spec), orientation, *out);
  }
  return turned;
}

#endif

}  // namespace sluice::lib
