// SPDX-License-Identifier: Apache-2.0
// Decodes GIF with giflib, record by record, because DGifSlurp would store all frames before their number is known.
#include "sluice/format/image_codecs.hpp"

#include "format/image/image_checks.hpp"

#if SLUICE_HAVE_GIF
#include <cstring>
#include <memory>

#include <absl/strings/str_cat.h>
#include <gif_lib.h>
#endif

namespace sluice::lib {

result<tensor> decode_gif(std::string_view encoded, const gif_options& options) {
  return detail::into_tensor([&](pixel_sink to) { return decode_gif(encoded, options, to); });
}

#if !SLUICE_HAVE_GIF

result<image_spec> decode_gif(std::string_view, const gif_options&, pixel_sink) {
  return detail::image_unavailable("decode_gif", "giflib");
}

#else

namespace detail {
namespace {

constexpr std::string_view kGifFunction = "decode_gif";

struct gif_bytes {
  std::string_view encoded;
  std::size_t at_byte = 0;
  bool ended = false;
};

class gif_reader {
 public:
  explicit gif_reader(std::string_view encoded) : bytes_{.encoded = encoded} {
    file_.reset(DGifOpen(
        &bytes_,
        [](GifFileType* file, GifByteType* to, int size) {
          auto& b = *static_cast<gif_bytes*>(file->UserData);
          const std::size_t left = b.encoded.size() - b.at_byte, wanted = static_cast<std::size_t>(size);
          const std::size_t given = left < wanted ? left : wanted;
          if (given < wanted) b.ended = true;
          std::memcpy(to, b.encoded.data() + b.at_byte, given);
          b.at_byte += given;
          return static_cast<int>(given);
        },
        &error_));
  }

  bool is_open() const noexcept { return file_ != nullptr; }
  GifFileType& file() noexcept { return *file_; }
  int transparent() const noexcept { return transparent_; }
  status why() const {
    if (bytes_.ended) return image_truncated(kGifFunction, bytes_.encoded.size());
    const char* words = GifErrorString(file_ ? file_->Error : error_);
    return image_damage(kGifFunction, words ? words : "an unknown error of giflib", bytes_.at_byte);
  }
  status damage(std::string_view what) const { return image_damage(kGifFunction, what, bytes_.at_byte); }

  enum class step : std::uint8_t { frame, end, failed };
  /// Moves to the next frame: file().Image describes its place, and its pixels follow.
  step next_frame() {
    transparent_ = NO_TRANSPARENT_COLOR;
    for (;;) {
      GifRecordType record;
      if (DGifGetRecordType(file_.get(), &record) != GIF_OK) return step::failed;
      switch (record) {
        case IMAGE_DESC_RECORD_TYPE:
          // giflib stores the descriptors of all frames, of which only the last is used.
          if (DGifGetImageDesc(file_.get()) != GIF_OK) return step::failed;
          return step::frame;
        case EXTENSION_RECORD_TYPE:
          if (!read_extension()) return step::failed;
          break;
        case TERMINATE_RECORD_TYPE: return step::end;
        default: break;
      }
    }
  }
  /// Skips the pixels without examining them.
  bool skip_pixels() {
    int code_size;
    GifByteType* block = nullptr;
    if (DGifGetCode(file_.get(), &code_size, &block) != GIF_OK) return false;
    while (block)
      if (DGifGetCodeNext(file_.get(), &block) != GIF_OK) return false;
    return true;
  }

 private:
  struct close_gif {
    void operator()(GifFileType* f) const noexcept {
      int error;
      DGifCloseFile(f, &error);
    }
  };

  bool read_extension() {
    int code;
    GifByteType* block = nullptr;
    if (DGifGetExtension(file_.get(), &code, &block) != GIF_OK) return false;
    if (block && code == GRAPHICS_EXT_FUNC_CODE) {
      GraphicsControlBlock control;
      if (DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) transparent_ = control.TransparentColor;
    }
    while (block)
      if (DGifGetExtensionNext(file_.get(), &block) != GIF_OK) return false;
    return true;
  }

  gif_bytes bytes_;
  int error_ = 0, transparent_ = NO_TRANSPARENT_COLOR;
  std::unique_ptr<GifFileType, close_gif> file_;
};

status check_gif_size(const GifFileType& file, int frames, const image_limits& limits) {
  return check_size(kGifFunction, static_cast<std::uint64_t>(file.SHeight), static_cast<std::uint64_t>(file.SWidth),
                    static_cast<std::uint64_t>(frames), limits);
}

/// Counts the frames of a file. Stops after the first that exceeds the limit.
result<int> count_gif_frames(std::string_view encoded, const image_limits& limits) {
  gif_reader r(encoded);
  if (!r.is_open()) return r.why();
  for (int frames = 0;; ++frames) {
    if (status why = check_gif_size(r.file(), frames, limits); !why.ok()) return why;
    switch (r.next_frame()) {
      case gif_reader::step::failed: return r.why();
      case gif_reader::step::end: return frames;
      case gif_reader::step::frame:
        if (!r.skip_pixels()) return r.why();
    }
  }
}

/// Draws one row of a frame, as far as it is on the canvas.
status draw_gif_row(const gif_reader& r, const ColorMapObject& colours, const GifPixelType* row, int pixels,
                    std::uint8_t* to) {
  for (int x = 0; x != pixels; ++x, to += 3) {
    const int index = row[x];
    if (index == r.transparent()) continue;
    if (index >= colours.ColorCount)
      return r.damage(absl::StrCat("colour ", index, " of a palette of ", colours.ColorCount));
    const GifColorType& c = colours.Colors[index];
    to[0] = c.Red, to[1] = c.Green, to[2] = c.Blue;
  }
  return {};
}

/// Draws the current frame of `r` over the contents of `canvas`.
status draw_gif_frame(gif_reader& r, const image_spec& spec, std::uint8_t* canvas, GifPixelType* row) {
  const GifImageDesc& frame = r.file().Image;
  const ColorMapObject* colours = frame.ColorMap ? frame.ColorMap : r.file().SColorMap;
  if (!colours) return r.damage("a frame without a palette");
  // Interlaced rows come in four passes.
  static constexpr int kFirst[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
  const int passes = frame.Interlace ? 4 : 1;
  // A frame may be larger than the canvas.
  const int pixels = frame.Width < spec.width - frame.Left ? frame.Width : spec.width - frame.Left;
  for (int pass = 0; pass != passes; ++pass) {
    for (int y = passes == 1 ? 0 : kFirst[pass]; y < frame.Height; y += passes == 1 ? 1 : kStep[pass]) {
      if (DGifGetLine(&r.file(), row, frame.Width) != GIF_OK) return r.why();
      if (frame.Top + y >= spec.height || pixels <= 0) continue;
      std::uint8_t* to = canvas + static_cast<std::size_t>(frame.Top + y) * spec.row_bytes() +
                         static_cast<std::size_t>(frame.Left) * 3;
      if (status why = draw_gif_row(r, *colours, row, pixels, to); !why.ok()) return why;
    }
  }
  return {};
}

}  // namespace
}  // namespace detail

result<image_spec> decode_gif(std::string_view encoded, const gif_options& options, pixel_sink to) {
  using namespace detail;
  if (status why = check_encoded(kGifFunction, encoded, options.limits); !why.ok()) return why;
  if (image_format_of(encoded) != image_format::gif) return image_error(kGifFunction, "these bytes are no GIF");
  int frames = 1;
  if (options.frames == frame_choice::all) {
    result<int> counted = count_gif_frames(encoded, options.limits);
    if (!counted.ok()) return counted.why();
    frames = *counted;
  }
  if (frames == 0) return image_error(kGifFunction, "a file without frames");
  gif_reader r(encoded);
  if (!r.is_open()) return r.why();
  if (status why = check_gif_size(r.file(), frames, options.limits); !why.ok()) return why;
  image_spec spec{.height = r.file().SHeight, .width = r.file().SWidth, .channels = 3};
  if (options.frames == frame_choice::all) spec.frames = frames;
  if (status why = check_result(kGifFunction, spec, options.limits); !why.ok()) return why;
  // A row of a frame has 65,535 pixels at most.
  auto row = std::make_unique_for_overwrite<GifPixelType[]>(std::size_t{1} << 16);
  result<std::uint8_t*> out = to.room(spec);
  if (!out.ok()) return out.why();
  for (int i = 0; i != frames; ++i) {
    std::uint8_t* canvas = *out + static_cast<std::size_t>(i) * spec.frame_bytes();
    if (i == 0) std::memset(canvas, 0, spec.frame_bytes());
    else std::memcpy(canvas, canvas - spec.frame_bytes(), spec.frame_bytes());
    switch (r.next_frame()) {
      case gif_reader::step::failed: return r.why();
      case gif_reader::step::end: return image_error(kGifFunction, "a file without frames");
      case gif_reader::step::frame: break;
    }
    if (status why = draw_gif_frame(r, spec, canvas, row.get()); !why.ok()) return why;
  }
  return spec;
}

#endif

}  // namespace sluice::lib
