// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/image_codecs.hpp"

#include "format/image/image_checks.hpp"

#if SLUICE_HAVE_JPEG
#include <csetjmp>
#include <cstdio>  // must precede jpeglib.h
#include <cstdlib>

#include <absl/strings/str_cat.h>
#include <jpeglib.h>
#endif

namespace sluice::lib {

#if !SLUICE_HAVE_JPEG

result<std::string> encode_jpeg(const image_view&, const jpeg_encode_options&) {
  return detail::image_unavailable("encode_jpeg", "libjpeg");
}

#else

namespace detail {
namespace {

constexpr std::string_view kJpegEncodeFunction = "encode_jpeg";

/// As in jpeg_decoder, libjpeg's errors jump back to guarded().
class jpeg_encoder {
 public:
  jpeg_encoder() noexcept {
    c_.err = jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr c) {
      auto* self = static_cast<jpeg_encoder*>(c->client_data);
      c->err->format_message(c, self->message_);
      std::longjmp(self->jump_, 1);
    };
    errors_.output_message = [](j_common_ptr) {};
    c_.client_data = this;
  }
  jpeg_encoder(const jpeg_encoder&) = delete;
  ~jpeg_encoder() {
    if (created_) jpeg_destroy_compress(&c_);
    std::free(bytes_);  // malloc'ed by libjpeg
  }

  bool encode(const image_view& pixels, const jpeg_encode_options& o) {
    if (setjmp(jump_)) return false;  // NOLINT: as in jpeg_decoder.cpp
    jpeg_create_compress(&c_);
    created_ = true;
    jpeg_mem_dest(&c_, &bytes_, &size_);
    c_.image_height = static_cast<JDIMENSION>(pixels.height);
    c_.image_width = static_cast<JDIMENSION>(pixels.width);
    c_.input_components = pixels.channels;
    c_.in_color_space = pixels.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&c_);
    c_.density_unit = 1;
    c_.X_density = c_.Y_density = static_cast<UINT16>(o.density);
    jpeg_set_quality(&c_, o.quality, TRUE);
    if (o.progressive) jpeg_simple_progression(&c_);
    if (!o.downsample_chroma)
      for (int i = 0; i != c_.num_components; ++i) c_.comp_info[i].h_samp_factor = c_.comp_info[i].v_samp_factor = 1;
    c_.optimize_coding = o.optimize || o.progressive;
    jpeg_start_compress(&c_, TRUE);
    while (c_.next_scanline != c_.image_height) {
      JSAMPROW row = const_cast<std::uint8_t*>(pixels.row(static_cast<int>(c_.next_scanline)));
      jpeg_write_scanlines(&c_, &row, 1);
    }
    jpeg_finish_compress(&c_);
    return true;
  }
  std::string bytes() const { return {reinterpret_cast<const char*>(bytes_), size_}; }
  const char* message() const noexcept { return message_; }

 private:
  jpeg_compress_struct c_ = {};
  jpeg_error_mgr errors_ = {};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;
  bool created_ = false;
  char message_[JMSG_LENGTH_MAX] = {};
  std::jmp_buf jump_ = {};
};

}  // namespace
}  // namespace detail

result<std::string> encode_jpeg(const image_view& pixels, const jpeg_encode_options& options) {
  using namespace detail;
  if (pixels.type != dtype::uint8 || (pixels.channels != 1 && pixels.channels != 3))
    return image_error(kJpegEncodeFunction,
                       absl::StrCat("takes uint8 with 1 or 3 channels, not ", pixels.spec().text()));
  if (pixels.height <= 0 || pixels.width <= 0)
    return image_error(kJpegEncodeFunction, absl::StrCat("an image without pixels: ", pixels.spec().text()));
  if (options.quality < 0 || options.quality > 100)
    return image_error(kJpegEncodeFunction, absl::StrCat("quality must be 0 to 100, not ", options.quality));
  jpeg_encoder e;
  if (!e.encode(pixels, options)) return image_error(kJpegEncodeFunction, e.message());
  return e.bytes();
}

#endif

}  // namespace sluice::lib
