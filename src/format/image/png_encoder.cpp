// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/image_codecs.hpp"

#include "format/image/image_checks.hpp"

#if SLUICE_HAVE_PNG
#include <cstring>

#include <absl/strings/str_cat.h>
#include <png.h>
#endif

namespace sluice::lib {

#if !SLUICE_HAVE_PNG

result<std::string> encode_png(const image_view&, int) { return detail::image_unavailable("encode_png", "libpng"); }

#else

namespace detail {
namespace {

constexpr std::string_view kPngEncodeFunction = "encode_png";

/// As in png_decoder, libpng's errors jump back to encode(). The output grows inside a callback, whose exception must
/// not pass through libpng, so it becomes an error.
class png_encoder {
 public:
  png_encoder() noexcept {
    png_ = png_create_write_struct(
        PNG_LIBPNG_VER_STRING, this,
        [](png_structp png, png_const_charp message) {
          auto* self = static_cast<png_encoder*>(png_get_error_ptr(png));
          std::strncpy(self->message_, message, sizeof self->message_ - 1);
          png_longjmp(png, 1);
        },
        [](png_structp, png_const_charp) {});
    if (png_) info_ = png_create_info_struct(png_);
  }
  png_encoder(const png_encoder&) = delete;
  ~png_encoder() {
    if (png_) png_destroy_write_struct(&png_, info_ ? &info_ : nullptr);
  }

  bool made() const noexcept { return info_ != nullptr; }
  bool encode(const image_view& pixels, int compression) {
    static constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                       PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(png_))) return false;  // NOLINT: as in jpeg_decoder.cpp
    const bool wide = pixels.type == dtype::uint16;
    png_set_write_fn(png_, this, append, [](png_structp) {});
    png_set_compression_level(png_, compression);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(pixels.width), static_cast<png_uint_32>(pixels.height),
                 wide ? 16 : 8, kColours[pixels.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    if (wide) png_set_swap(png_);  // from little endian
    for (int y = 0; y != pixels.height; ++y) png_write_row(png_, pixels.row(y));
    png_write_end(png_, nullptr);
    return true;
  }
  std::string take() noexcept { return std::move(bytes_); }
  bool is_out_of_memory() const noexcept { return out_of_memory_; }
  const char* message() const noexcept { return message_; }

 private:
  static void append(png_structp png, png_bytep bytes, png_size_t size) {
    auto* self = static_cast<png_encoder*>(png_get_io_ptr(png));
    try {
      self->bytes_.append(reinterpret_cast<const char*>(bytes), size);
      return;
    } catch (...) { self->out_of_memory_ = true; }
    png_error(png, "out of memory");  // outside the handler, because a jump must not leave it
  }

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::string bytes_;
  bool out_of_memory_ = false;
  char message_[128] = {};
};

}  // namespace
}  // namespace detail

result<std::string> encode_png(const image_view& pixels, int compression) {
  using namespace detail;
  if ((pixels.type != dtype::uint8 && pixels.type != dtype::uint16) || pixels.channels < 1 || pixels.channels > 4)
    return image_error(kPngEncodeFunction,
                       absl::StrCat("takes uint8 or uint16 with 1 to 4 channels, not ", pixels.spec().text()));
  if (pixels.height <= 0 || pixels.width <= 0)
    return image_error(kPngEncodeFunction, absl::StrCat("an image without pixels: ", pixels.spec().text()));
  if (compression < -1 || compression > 9)
    return image_error(kPngEncodeFunction, absl::StrCat("compression must be -1 to 9, not ", compression));
  png_encoder e;
  if (!e.made()) return status::out_of_memory();
  if (!e.encode(pixels, compression))
    return e.is_out_of_memory() ? status::out_of_memory() : image_error(kPngEncodeFunction, e.message());
  return e.take();
}

#endif

}  // namespace sluice::lib
