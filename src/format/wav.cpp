// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/wav.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "sluice/base/assert.hpp"

namespace sluice::lib {
namespace detail {
namespace {

constexpr std::size_t kRiffHeadBytes = 12, kChunkHeadBytes = 8, kFormatBytes = 16, kExtensibleBytes = 40;
constexpr std::size_t kSizes64Bytes = 16;  // of ds64: the sizes of the file and of the samples
// the first two bytes of its GUID are the format that otherwise precedes it
constexpr std::size_t kExtensibleFormAt = 24;
enum : std::uint32_t { kPcm = 1, kFloat = 3, kALaw = 6, kMuLaw = 7, kExtensible = 0xfffe };
constexpr std::uint32_t kUnknownSize = 0xffffffff;  ///< of a stream; in RF64 the size is in ds64
constexpr std::uint32_t kSoxSize = 0x7ffff000;      ///< of a stream that SoX writes, rounded down to whole samples

/// The bytes of a WAV file, whose numbers are little-endian, or big-endian in RIFX.
struct wav_bytes {
  std::string_view all;
  bool is_big_endian = false;

  /// Reads a number. REQUIRES: it is within the bytes.
  template <class T> T number(std::size_t at) const noexcept {
    SLUICE_REQUIRES(at <= all.size() && sizeof(T) <= all.size() - at, "the number leaves the bytes");
    char bytes[sizeof(T)];
    std::memcpy(bytes, all.data() + at, sizeof(T));
    if (is_big_endian) std::reverse(std::begin(bytes), std::end(bytes));
    T n;
    std::memcpy(&n, bytes, sizeof n);
    return n;
  }
  wav_bytes part(std::size_t at, std::size_t size) const { return {all.substr(at, size), is_big_endian}; }
};

struct wav_format {
  std::uint32_t form = 0, channels = 0, rate = 0, frame_bytes = 0, bits = 0;
  std::uint32_t value_bytes = 0;  ///< the bytes of one channel's value, which may be wider than its bits
};

status wav_error(std::string_view what) {
  return invalid_argument_error(absl::StrCat("decode_wav: ", std::string(what)));
}
status wav_damage(std::string_view what, std::size_t at) {
  return data_loss_error(absl::StrCat("decode_wav: ", std::string(what), " at byte ", at));
}

result<wav_format> read_format(const wav_bytes& chunk, std::size_t at) {
  if (chunk.all.size() < kFormatBytes) return wav_damage("a format of too few bytes", at);
  wav_format f;
  f.form = chunk.number<std::uint16_t>(0);
  f.channels = chunk.number<std::uint16_t>(2);
  f.rate = chunk.number<std::uint32_t>(4);
  f.frame_bytes = chunk.number<std::uint16_t>(12);
  f.bits = chunk.number<std::uint16_t>(14);
  if (f.form == kExtensible) {
    if (chunk.all.size() < kExtensibleBytes) return wav_damage("a format of too few bytes", at);
    f.form = chunk.number<std::uint16_t>(kExtensibleFormAt);
  }
  const bool is_pcm = f.form == kPcm && f.bits != 0 && f.bits <= 32;
  const bool is_float = f.form == kFloat && (f.bits == 32 || f.bits == 64);
  const bool is_law = (f.form == kALaw || f.form == kMuLaw) && f.bits == 8;
  if (!is_pcm && !is_float && !is_law)
    return wav_error(absl::StrCat("format ", f.form, " of ", f.bits,
                                  " bits; read are 1 (PCM) of up to 32, 3 (floating point) of 32 and 64, 6 (A-law) and "
                                  "7 (µ-law) of 8; `ffmpeg -i FILE out.wav` converts it"));
  if (f.channels == 0) return wav_damage("a format of 0 channels", at);
  f.value_bytes = (f.bits + 7) / 8;
  if (f.frame_bytes != f.channels * f.value_bytes)
    return wav_damage(
        absl::StrCat("samples of ", f.frame_bytes, " bytes for ", f.channels, " channels of ", f.bits, " bits"), at);
  return f;
}

/// The bytes of the first chunk `data`, and the format that precedes it.
struct wav_parts {
  wav_format format;
  wav_bytes data;
};

/// Returns the size of the samples from `at` on if the writer did not know it: a header of 0 or -1 is that of a stream,
/// which ends with the bytes. Returns nothing if `size` is a size. `riff_bytes`: the size in the header of the file.
std::optional<std::uint64_t> size_of_stream(std::uint64_t size, std::uint64_t riff_bytes, std::size_t at,
                                            std::size_t end, const wav_format& f) {
  const std::uint64_t there = end - at;
  // An empty chunk that other chunks follow is empty: the size of the file then includes them.
  const bool is_unknown = riff_bytes == kUnknownSize || riff_bytes == ~std::uint64_t{0};
  const bool is_zero = size == 0 && there != 0 && (is_unknown || riff_bytes + kChunkHeadBytes <= at);
  const bool is_sox = size <= kSoxSize && size > kSoxSize - f.frame_bytes && there < size;
  if (!is_zero && !is_sox && size != kUnknownSize && size != ~std::uint64_t{0}) return {};
  const bool is_padded = there % 2 == 0 && there % f.frame_bytes == 1;  // a byte after an odd number of bytes
  return there - is_padded;
}

/// Reads the chunk `data`, whose samples begin at `at`.
result<wav_bytes> read_samples(const wav_bytes& file, std::size_t at, std::uint64_t size, std::uint64_t riff_bytes,
                               const wav_format& f) {
  if (const auto streamed = size_of_stream(size, riff_bytes, at, file.all.size(), f)) size = *streamed;
  if (file.all.size() - at < size)
    return wav_damage(absl::StrCat("premature end of the data: the samples have ", size, " bytes, and ",
                                   file.all.size() - at, " are there,"),
                      file.all.size());
  if (size % f.frame_bytes != 0) return wav_damage("a part of a sample", at + static_cast<std::size_t>(size));
  return file.part(at, static_cast<std::size_t>(size));
}

result<wav_parts> split_wav(std::string_view encoded) {
  const bool is_64 = encoded.starts_with("RF64") || encoded.starts_with("BW64");
  const wav_bytes file{encoded, encoded.starts_with("RIFX")};
  if ((!is_64 && !file.is_big_endian && !encoded.starts_with("RIFF")) || encoded.size() < kRiffHeadBytes ||
      !encoded.substr(8).starts_with("WAVE"))
    return wav_error("these bytes are no WAV");
  wav_parts parts;
  bool has_format = false;
  std::uint64_t riff_bytes = file.number<std::uint32_t>(4);
  std::optional<std::uint64_t> data_bytes;  // in ds64
  for (std::size_t at = kRiffHeadBytes;;) {
    if (encoded.size() - at < kChunkHeadBytes) return wav_damage("premature end of the data", encoded.size());
    const std::string_view name = encoded.substr(at, 4);
    const std::size_t size = file.number<std::uint32_t>(at + 4);
    at += kChunkHeadBytes;
    if (name == "data") {
      if (!has_format) return wav_damage("samples before their format", at);
      if (is_64 && !data_bytes) return wav_damage("samples before their size (ds64)", at);
      const bool is_in_64 = is_64 && size == kUnknownSize;
      result<wav_bytes> data = read_samples(file, at, is_in_64 ? *data_bytes : size, riff_bytes, parts.format);
      if (!data.ok()) return data.why();
      parts.data = *data;
      return parts;
    }
    if (encoded.size() - at < size) return wav_damage("premature end of the data", encoded.size());
    const wav_bytes chunk = file.part(at, size);
    if (name == "fmt ") {
      result<wav_format> f = read_format(chunk, at);
      if (!f.ok()) return f.why();
      parts.format = *f;
      has_format = true;
    } else if (name == "ds64" && is_64) {
      if (size < kSizes64Bytes) return wav_damage("sizes (ds64) of too few bytes", at);
      riff_bytes = chunk.number<std::uint64_t>(0);
      data_bytes = chunk.number<std::uint64_t>(8);
    }
    at += size;
    if (size % 2 == 1 && at != encoded.size()) ++at;  // chunks begin at even offsets
  }
}

/// Expands 8 bits to 16 (ITU-T G.711): a sign, an exponent, and four bits.
std::int16_t of_a_law(std::uint8_t code) noexcept {
  code ^= 0x55;
  const int exponent = code >> 4 & 7, bits = code & 15;
  const int size = exponent == 0 ? bits * 16 + 8 : (bits * 16 + 264) << (exponent - 1);
  return static_cast<std::int16_t>((code & 0x80) != 0 ? size : -size);
}
std::int16_t of_mu_law(std::uint8_t code) noexcept {
  code = static_cast<std::uint8_t>(~code);
  const int size = (((code & 15) * 8 + 132) << (code >> 4 & 7)) - 132;
  return static_cast<std::int16_t>((code & 0x80) != 0 ? -size : size);
}

float value_at(const wav_bytes& data, std::size_t at, const wav_format& f) noexcept {
  if (f.form == kFloat) return f.bits == 32 ? data.number<float>(at) : static_cast<float>(data.number<double>(at));
  const auto first = static_cast<std::uint8_t>(data.all[at]);
  if (f.form == kALaw) return static_cast<float>(of_a_law(first)) * 0x1p-15f;
  if (f.form == kMuLaw) return static_cast<float>(of_mu_law(first)) * 0x1p-15f;
  switch (f.value_bytes) {
    case 1: return static_cast<float>(first - 128) * 0x1p-7f;
    case 2: return static_cast<float>(data.number<std::int16_t>(at)) * 0x1p-15f;
    case 3: {
      char bytes[4] = {};  // the sample's bytes are the upper three
      std::memcpy(bytes + 1, data.all.data() + at, 3);
      if (data.is_big_endian) std::swap(bytes[1], bytes[3]);
      std::int32_t n;
      std::memcpy(&n, bytes, 4);
      return static_cast<float>(n >> 8) * 0x1p-23f;
    }
    default: return static_cast<float>(data.number<std::int32_t>(at)) * 0x1p-31f;
  }
}

}  // namespace
}  // namespace detail

result<audio> decode_wav(std::string_view encoded, const wav_options& options) {
  using namespace detail;
  if (options.channels < 0 || options.samples < 0) return wav_error("channels and samples must not be negative");
  result<wav_parts> parts = split_wav(encoded);
  if (!parts.ok()) return parts.why();
  const wav_format& f = parts->format;
  const std::size_t in_file = parts->data.all.size() / f.frame_bytes;
  const std::size_t samples = options.samples != 0 ? static_cast<std::size_t>(options.samples) : in_file;
  const std::size_t channels = options.channels != 0 ? static_cast<std::size_t>(options.channels) : f.channels;
  // The limit is divided, since it is the caller's, and the product may exceed 64 bits.
  if (samples > options.bytes_max / sizeof(float) / channels)
    return element_limit_error(absl::StrCat("decode_wav: ", samples, " samples of ", channels,
                                            " channels are above the limit of ", options.bytes_max,
                                            " bytes (bytes_max)"));
  audio made{.samples = tensor::make(dtype::float32,
                                     {static_cast<std::int64_t>(samples), static_cast<std::int64_t>(channels)}),
             .rate = f.rate};
  std::span<float> out = made.samples.writable<float>();
  const std::size_t decoded = std::min(samples, in_file);
  float* to = out.data();
  for (std::size_t i = 0; i != decoded; ++i)
    for (std::size_t c = 0; c != channels; ++c)
      *to++ = value_at(parts->data, i * f.frame_bytes + std::min<std::size_t>(c, f.channels - 1) * f.value_bytes, f);
  std::fill(to, out.data() + out.size(), 0.0f);
  return made;
}

}  // namespace sluice::lib
