// SPDX-License-Identifier: Apache-2.0
// Decodes PNG with libpng, with the transformations that TensorFlow uses. plain_png.cpp decodes the usual files. Errors
// jump, as in jpeg_decoder.cpp.
#include "sluice/format/image_codecs.hpp"

#include "format/image/image_checks.hpp"

#if SLUICE_HAVE_PNG
#include <cstring>

#include <absl/strings/str_cat.h>
#include <isa-l/crc.h>
#include <png.h>

#include "format/image/orientation.hpp"
#include "format/image/plain_png.hpp"
#endif

namespace sluice::lib {

result<tensor> decode_png(std::string_view encoded, const png_options& options) {
  return detail::into_tensor([&](pixel_sink to) { return decode_png(encoded, options, to); });
}

#if !SLUICE_HAVE_PNG

result<image_spec> decode_png(std::string_view, const png_options&, pixel_sink) {
  return detail::image_unavailable("decode_png", "libpng");
}

#else

namespace detail {
namespace {

constexpr std::string_view kPngFunction = "decode_png";
constexpr std::size_t kPngChunkBytesMax = std::size_t{8} << 20;  // inflated texts, profiles and similar chunks
constexpr std::size_t kDeflateRatioMax = 1032;                   // 258 bytes from two bits

constexpr std::size_t kPngSizeAt = 16;     // in IHDR, which is the first chunk
constexpr std::size_t kPngHeaderEnd = 33;  // behind its checksum

std::uint32_t big_endian32(const char* p) noexcept {
  std::uint32_t n;
  std::memcpy(&n, p, sizeof n);
  return __builtin_bswap32(n);
}

class png_decoder {
 public:
  explicit png_decoder(std::string_view encoded) noexcept : encoded_(encoded) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, [](png_structp, png_const_charp) {});
    if (png_) info_ = png_create_info_struct(png_);
  }
  png_decoder(const png_decoder&) = delete;
  ~png_decoder() {
    if (png_) png_destroy_read_struct(&png_, info_ ? &info_ : nullptr, nullptr);
  }

  bool made() const noexcept { return info_ != nullptr; }
  png_structp png() noexcept { return png_; }
  png_infop info() noexcept { return info_; }
  status why() const {
    return ended_ ? image_truncated(kPngFunction, encoded_.size()) : image_damage(kPngFunction, message_, at_byte_);
  }

  /// Calls f, which calls libpng and has no object with a destructor. Returns false if libpng failed: why() returns the
  /// reason.
  template <class F> bool guarded(F f) {
    if (setjmp(png_jmpbuf(png_))) return false;  // NOLINT: see the top of this file
    f();
    return true;
  }

  /// Reads up to the first byte of pixels.
  bool read_head(const image_limits& limits) {
    return guarded([&] {
      png_set_read_fn(png_, this, read);
      const auto side_max = static_cast<png_uint_32>(limits.side_max);
      png_set_user_limits(png_, side_max, side_max);
      png_set_chunk_malloc_max(png_, kPngChunkBytesMax);
      png_read_info(png_, info_);
    });
  }

 private:
  static void fail(png_structp png, png_const_charp message) {
    auto* self = static_cast<png_decoder*>(png_get_error_ptr(png));
    std::strncpy(self->message_, message, sizeof self->message_ - 1);
    png_longjmp(png, 1);
  }
  static void read(png_structp png, png_bytep to, png_size_t bytes) {
    auto* self = static_cast<png_decoder*>(png_get_io_ptr(png));
    if (self->encoded_.size() - self->at_byte_ < bytes) {
      self->ended_ = true;
      png_error(png, "premature end of the data");
    }
    std::memcpy(to, self->encoded_.data() + self->at_byte_, bytes);
    self->at_byte_ += bytes;
  }

  std::string_view encoded_;
  std::size_t at_byte_ = 0;
  bool ended_ = false;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  char message_[128] = {};
};

struct png_header {
  png_uint_32 width = 0, height = 0;
  int depth = 0, colours = 0, interlacing = 0;
  bool has_transparency = false;  // a transparent color, or transparent entries of the palette
};

int channels_of(const png_header& h, int file_channels) {
  if (h.colours == PNG_COLOR_TYPE_PALETTE) return h.has_transparency ? 4 : 3;
  return file_channels;
}

/// Called inside guarded(). libpng applies the transformations in its own order.
void set_png_transforms(png_structp png, const png_header& h, int channels, bool wide) {
  const bool has_alpha = (h.colours & PNG_COLOR_MASK_ALPHA) != 0, is_grey = (h.colours & PNG_COLOR_MASK_COLOR) == 0;
  if (channels % 2 == 0) {
    if (!has_alpha && h.has_transparency) png_set_tRNS_to_alpha(png);
    else if (!has_alpha) png_set_add_alpha(png, 0xffff, PNG_FILLER_AFTER);  // 0xff for 8 bits
  } else if (has_alpha || h.has_transparency) {
    png_set_strip_alpha(png);
  }
  if (h.depth > 8 && !wide) png_set_strip_16(png);
  png_set_packing(png);
  if (wide) png_set_swap(png);  // to little endian
  if (h.colours == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (is_grey && h.depth < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (channels < 3 && !is_grey) png_set_rgb_to_gray(png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  if (channels >= 3 && is_grey) png_set_gray_to_rgb(png);
}

/// Widens pixels of 8 bits in the front half of the memory to 16 bits in all of it.
void widen_rows(std::uint8_t* rows, std::size_t count, std::size_t row_bytes) {
  for (std::size_t y = 0; y != count; ++y) {
    std::uint8_t* row = rows + y * row_bytes;
    for (std::size_t i = row_bytes / 2; i-- != 0;) row[2 * i] = row[2 * i + 1] = row[i];
  }
}

/// Returns the orientation in the chunk eXIf, which may stand before or behind the pixels. A damaged one does not count.
int png_orientation(std::string_view encoded) noexcept {
  constexpr std::size_t kSignatureBytes = 8, kAroundBytes = 12;  // length, type and checksum
  for (std::size_t at = kSignatureBytes; at <= encoded.size() && encoded.size() - at >= kAroundBytes;) {
    const std::size_t bytes = big_endian32(encoded.data() + at);
    if (encoded.size() - at - kAroundBytes < bytes) return 0;
    if (encoded.substr(at + 4).starts_with("eXIf")) {
      const auto* checked = reinterpret_cast<const unsigned char*>(encoded.data() + at + 4);
      const bool is_sound = crc32_gzip_refl(0, checked, 4 + bytes) == big_endian32(encoded.data() + at + 8 + bytes);
      return is_sound ? exif_block_orientation(encoded.substr(at + 8, bytes)) : 0;
    }
    at += kAroundBytes + bytes;
  }
  return 0;
}

result<image_spec> decode_stored_png(std::string_view encoded, const png_options& options, pixel_sink to) {
  if (options.channels < 0 || options.channels > 4)
    return image_error(kPngFunction, absl::StrCat("channels must be 0 to 4, not ", options.channels));
  if (options.type != dtype::uint8 && options.type != dtype::uint16)
    return image_error(kPngFunction, "gives uint8 or uint16");
  if (status why = check_encoded(kPngFunction, encoded, options.limits); !why.ok()) return why;
  if (image_format_of(encoded) != image_format::png) return image_error(kPngFunction, "these bytes are no PNG");

  // libpng checks each side but not the product, and reports damage. The header has a fixed place, so it is checked
  // before.
  if (encoded.size() >= kPngHeaderEnd && encoded.substr(kPngSizeAt - 4).starts_with("IHDR")) {
    const auto* checked = reinterpret_cast<const unsigned char*>(encoded.data() + kPngSizeAt - 4);
    const std::size_t crc_at = kPngHeaderEnd - sizeof(std::uint32_t);
    const bool is_sound =
        crc32_gzip_refl(0, checked, crc_at - (kPngSizeAt - 4)) == big_endian32(encoded.data() + crc_at);
    if (!is_sound) return image_damage(kPngFunction, "the checksum of the header (IHDR) is wrong", crc_at);
    if (status why = check_size(kPngFunction, big_endian32(encoded.data() + kPngSizeAt + 4),
                                big_endian32(encoded.data() + kPngSizeAt), 1, options.limits);
        !why.ok())
      return why;
  }
  png_decoder d(encoded);
  if (!d.made()) return status::out_of_memory();
  if (!d.read_head(options.limits)) return d.why();
  png_header h;
  int file_channels = 0;
  bool done = d.guarded([&] {
    png_get_IHDR(d.png(), d.info(), &h.width, &h.height, &h.depth, &h.colours, &h.interlacing, nullptr, nullptr);
    h.has_transparency = png_get_valid(d.png(), d.info(), PNG_INFO_tRNS) != 0;
    file_channels = png_get_channels(d.png(), d.info());
  });
  if (!done) return d.why();
  // Each row has whole bytes and the number of a filter.
  const std::uint64_t inflated =
      h.height * (1 + (static_cast<std::uint64_t>(h.width) * static_cast<unsigned>(h.depth * file_channels) + 7) / 8);
  if (inflated / kDeflateRatioMax > encoded.size()) return image_truncated(kPngFunction, encoded.size());

  const bool wide = options.type == dtype::uint16;
  image_spec spec{.height = static_cast<int>(h.height),
                  .width = static_cast<int>(h.width),
                  .channels = options.channels != 0 ? options.channels : channels_of(h, file_channels),
                  .type = options.type};
  if (status why = check_result(kPngFunction, spec, options.limits); !why.ok()) return why;
  const bool widens = wide && h.depth <= 8;
  int passes = 0;
  std::size_t written_bytes = 0;
  done = d.guarded([&] {
    set_png_transforms(d.png(), h, spec.channels, wide);
    passes = png_set_interlace_handling(d.png());
    png_read_update_info(d.png(), d.info());
    written_bytes = png_get_rowbytes(d.png(), d.info());
  });
  if (!done) return d.why();
  if (written_bytes != spec.row_bytes() / (widens ? 2 : 1))
    return internal_error(absl::StrCat("decode_png: rows of ", written_bytes, " bytes for ", spec.text()));

  result<std::uint8_t*> out = to.room(spec);
  if (!out.ok()) return out.why();
  std::uint8_t* const rows = *out;
  if (h.depth == 8 && !wide && h.interlacing == PNG_INTERLACE_NONE && h.colours != PNG_COLOR_TYPE_PALETTE &&
      !h.has_transparency && spec.channels == file_channels && decode_plain_png(encoded, spec, rows))
    return spec;
  const std::size_t row_bytes = spec.row_bytes();
  done = d.guarded([&] {
    for (int pass = 0; pass != passes; ++pass)
      for (png_uint_32 y = 0; y != h.height; ++y) png_read_row(d.png(), rows + y * row_bytes, nullptr);
    png_read_end(d.png(), d.info());
  });
  if (!done) return d.why();
  if (widens) widen_rows(rows, h.height, row_bytes);
  return spec;
}

}  // namespace
}  // namespace detail

result<image_spec> decode_png(std::string_view encoded, const png_options& options, pixel_sink to) {
  using namespace detail;
  if (!options.apply_orientation || image_format_of(encoded) != image_format::png)
    return decode_stored_png(encoded, options, to);
  return decode_upright(
      png_orientation(encoded), [&](pixel_sink stored) { return decode_stored_png(encoded, options, stored); }, to);
}

#endif

}  // namespace sluice::lib
