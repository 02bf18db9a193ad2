// SPDX-License-Identifier: Apache-2.0
// Decodes GIF with giflib, record by record, because DGifSlurp would store all frames before their number is known.
#include "sluice/format/image_codecs.hpp"

#include "format/image/image_checks.hpp"

#if SLUICE_HAVE_GIF
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

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
  /// The color of the current frame that is not drawn; NO_TRANSPARENT_COLOR if it has none.
  int transparent() const noexcept { return transparent_; }
  /// What becomes of the current frame's area before the next one is drawn: DISPOSE_BACKGROUND, DISPOSE_PREVIOUS, or
  /// any other number: it stays.
  int disposal() const noexcept { return disposal_; }
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
    disposal_ = DISPOSAL_UNSPECIFIED;
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
      if (DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
        transparent_ = control.TransparentColor;
        disposal_ = control.DisposalMode;
      }
    }
    while (block)
      if (DGifGetExtensionNext(file_.get(), &block) != GIF_OK) return false;
    return true;
  }

  gif_bytes bytes_;
  int error_ = 0, transparent_ = NO_TRANSPARENT_COLOR, disposal_ = DISPOSAL_UNSPECIFIED;
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

using gif_pixel = std::array<std::uint8_t, 4>;
constexpr gif_pixel kTransparent = {0, 0, 0, 0};

/// The frames of an animation, each drawn after the area of the one before was disposed of.
class gif_canvas {
 public:
  gif_canvas(gif_reader& reader, const image_spec& spec)
      : reader_(reader), spec_(spec), row_(std::make_unique_for_overwrite<GifPixelType[]>(kRowMax)) {}

  /// Draws the current frame of the reader to `to`. `before`: the frame before, or null.
  status draw(const std::uint8_t* before, std::uint8_t* to) {
    if (before) {
      std::memcpy(to, before, spec_.frame_bytes());
      dispose(to);
    } else {
      fill({.height = spec_.height, .width = spec_.width}, background(), to);
    }
    note_disposal(to);
    return draw_frame(to);
  }

 private:
  static constexpr std::size_t kRowMax = std::size_t{1} << 16;  // a row of a frame has 65,535 pixels at most

  std::uint8_t* at(std::uint8_t* canvas, int y, int x) const noexcept {
    return canvas + static_cast<std::size_t>(y) * spec_.row_bytes() +
           static_cast<std::size_t>(x) * static_cast<std::size_t>(spec_.channels);
  }
  /// The part of the current frame that is on the canvas; a frame may be larger.
  image_box visible() const noexcept {
    const GifImageDesc& f = reader_.file().Image;
    const int y = std::min(f.Top, spec_.height), x = std::min(f.Left, spec_.width);
    return {
        .y = y, .x = x, .height = std::min(f.Height, spec_.height - y), .width = std::min(f.Width, spec_.width - x)};
  }
  void put(const gif_pixel& color, std::uint8_t* to) const noexcept { std::copy_n(color.begin(), spec_.channels, to); }
  void fill(const image_box& box, const gif_pixel& color, std::uint8_t* canvas) const noexcept {
    for (int y = 0; y != box.height; ++y) {
      std::uint8_t* to = at(canvas, box.y + y, box.x);
      for (int x = 0; x != box.width; ++x, to += spec_.channels) put(color, to);
    }
  }
  /// Copies the pixels of a box, without gaps, from or to the canvas.
  template <class Copy> void each_row(const image_box& box, std::uint8_t* canvas, Copy copy) {
    const std::size_t bytes = static_cast<std::size_t>(box.width) * static_cast<std::size_t>(spec_.channels);
    for (int y = 0; y != box.height; ++y)
      copy(at(canvas, box.y + y, box.x), saved_.data() + static_cast<std::size_t>(y) * bytes, bytes);
  }

  /// Returns the background of the current frame: the color of the screen, or, for a frame with a transparent color or
  /// without such a color, transparent.
  gif_pixel background() const noexcept {
    const GifFileType& file = reader_.file();
    const ColorMapObject* colours = file.SColorMap;
    if (reader_.transparent() != NO_TRANSPARENT_COLOR || !colours || file.SBackGroundColor < 0 ||
        file.SBackGroundColor >= colours->ColorCount)
      return kTransparent;
    const GifColorType& c = colours->Colors[file.SBackGroundColor];
    return {c.Red, c.Green, c.Blue, 255};
  }
  /// Remembers how the area of the current frame will be disposed of. `canvas`: before the frame is drawn.
  void note_disposal(std::uint8_t* canvas) {
    disposal_ = reader_.disposal();
    area_ = visible();
    background_ = background();
    if (disposal_ != DISPOSE_PREVIOUS) return;
    saved_.resize(static_cast<std::size_t>(area_.height) * static_cast<std::size_t>(area_.width) *
                  static_cast<std::size_t>(spec_.channels));
    each_row(area_, canvas, [](std::uint8_t* from, std::uint8_t* to, std::size_t n) { std::memcpy(to, from, n); });
  }
  void dispose(std::uint8_t* canvas) {
    if (disposal_ == DISPOSE_BACKGROUND) fill(area_, background_, canvas);
    if (disposal_ == DISPOSE_PREVIOUS)
      each_row(area_, canvas, [](std::uint8_t* to, std::uint8_t* from, std::size_t n) { std::memcpy(to, from, n); });
  }

  status draw_row(const ColorMapObject& colours, int pixels, std::uint8_t* to) const {
    for (int x = 0; x != pixels; ++x, to += spec_.channels) {
      const int index = row_[static_cast<std::size_t>(x)];
      if (index == reader_.transparent()) continue;
      if (index >= colours.ColorCount)
        return reader_.damage(absl::StrCat("colour ", index, " of a palette of ", colours.ColorCount));
      const GifColorType& c = colours.Colors[index];
      put({c.Red, c.Green, c.Blue, 255}, to);
    }
    return {};
  }
  status draw_frame(std::uint8_t* canvas) {
    const GifImageDesc& frame = reader_.file().Image;
    const ColorMapObject* colours = frame.ColorMap ? frame.ColorMap : reader_.file().SColorMap;
    if (!colours) return reader_.damage("a frame without a palette");
    // Interlaced rows come in four passes.
    static constexpr int kFirst[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
    const int passes = frame.Interlace ? 4 : 1;
    for (int pass = 0; pass != passes; ++pass)
      for (int y = passes == 1 ? 0 : kFirst[pass]; y < frame.Height; y += passes == 1 ? 1 : kStep[pass]) {
        if (DGifGetLine(&reader_.file(), row_.get(), frame.Width) != GIF_OK) return reader_.why();
        if (y >= area_.height) continue;
        if (status why = draw_row(*colours, area_.width, at(canvas, area_.y + y, area_.x)); !why.ok()) return why;
      }
    return {};
  }

  gif_reader& reader_;
  image_spec spec_;
  std::unique_ptr<GifPixelType[]> row_;
  int disposal_ = DISPOSAL_UNSPECIFIED;  // of the frame that was drawn last, like the two below
  image_box area_ = {};
  gif_pixel background_ = kTransparent;
  std::vector<std::uint8_t> saved_;  // the area before that frame
};

}  // namespace
}  // namespace detail

result<image_spec> decode_gif(std::string_view encoded, const gif_options& options, pixel_sink to) {
  using namespace detail;
  if (options.channels != 0 && options.channels != 3 && options.channels != 4)
    return image_error(kGifFunction, absl::StrCat("channels must be 0, 3 or 4, not ", options.channels));
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
  image_spec spec{.height = r.file().SHeight, .width = r.file().SWidth, .channels = options.channels == 4 ? 4 : 3};
  if (options.frames == frame_choice::all) spec.frames = frames;
  if (status why = check_result(kGifFunction, spec, options.limits); !why.ok()) return why;
  result<std::uint8_t*> out = to.room(spec);
  if (!out.ok()) return out.why();
  gif_canvas canvas(r, spec);
  for (int i = 0; i != frames; ++i) {
    switch (r.next_frame()) {
      case gif_reader::step::failed: return r.why();
      case gif_reader::step::end: return image_error(kGifFunction, "a file without frames");
      case gif_reader::step::frame: break;
    }
    std::uint8_t* frame = *out + static_cast<std::size_t>(i) * spec.frame_bytes();
    if (status why = canvas.draw(i == 0 ? nullptr : frame - spec.frame_bytes(), frame); !why.ok()) return why;
  }
  return spec;
}

#endif

}  // namespace sluice::lib
