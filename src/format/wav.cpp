// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/wav.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>

#include "sluice/base/assert.hpp"

namespace sluice::lib {
namespace detail {
namespace {

constexpr std::size_t kRiffHeadBytes = 12, kChunkHeadBytes = 8, kFormatBytes = 16, kExtensibleBytes = 40;
// the first two bytes of its GUID are the format that otherwise precedes it
constexpr std::size_t kExtensibleFormAt = 24;
enum : std::uint32_t { kPcm = 1, kFloat = 3, kExtensible = 0xfffe };

/// Reads a little-endian number. REQUIRES: it is within the bytes.
template <class T> T number_at(std::string_view bytes, std::size_t at) noexcept {
  SLUICE_REQUIRES(at <= bytes.size() && sizeof(T) <= bytes.size() - at, "the number leaves the bytes");
  T n;
  std::memcpy(&n, bytes.data() + at, sizeof n);
  return n;
}

struct wav_format {
  std::uint32_t form = 0, channels = 0, rate = 0, frame_bytes = 0, bits = 0;
};

status wav_error(std::string_view what) {
  return invalid_argument_error(absl::StrCat("decode_wav: ", std::string(what)));
}
status wav_damage(std::string_view what, std::size_t at) {
  return data_loss_error(absl::StrCat("decode_wav: ", std::string(what), " at byte ", at));
}

result<wav_format> read_format(std::string_view chunk, std::size_t at) {
  if (chunk.size() < kFormatBytes) return wav_damage("a format of too few bytes", at);
  wav_format f;
  f.form = number_at<std::uint16_t>(chunk, 0);
  f.channels = number_at<std::uint16_t>(chunk, 2);
  f.rate = number_at<std::uint32_t>(chunk, 4);
  f.frame_bytes = number_at<std::uint16_t>(chunk, 12);
  f.bits = number_at<std::uint16_t>(chunk, 14);
  if (f.form == kExtensible) {
    if (chunk.size() < kExtensibleBytes) return wav_damage("a format of too few bytes", at);
    f.form = number_at<std::uint16_t>(chunk, kExtensibleFormAt);
  }
  const bool is_pcm = f.form == kPcm && (f.bits == 8 || f.bits == 16 || f.bits == 24 || f.bits == 32);
  const bool is_float = f.form == kFloat && (f.bits == 32 || f.bits == 64);
  if (!is_pcm && !is_float)
    return wav_error(absl::StrCat("format ", f.form, " of ", f.bits,
                                  " bits; read are 1 (PCM) of 8, 16, 24 and 32, and 3 (floating point) of 32 and 64"));
  if (f.channels == 0) return wav_damage("a format of 0 channels", at);
  if (f.frame_bytes != f.channels * f.bits / 8)
    return wav_damage(
        absl::StrCat("samples of ", f.frame_bytes, " bytes for ", f.channels, " channels of ", f.bits, " bits"), at);
  return f;
}

/// The bytes of the first chunk `data`, and the format that precedes it.
struct wav_parts {
  wav_format format;
  std::string_view data;
};

result<wav_parts> split_wav(std::string_view encoded) {
  if (!encoded.starts_with("RIFF") || encoded.size() < kRiffHeadBytes || !encoded.substr(8).starts_with("WAVE"))
    return wav_error("these bytes are no WAV");
  wav_parts parts;
  bool has_format = false;
  for (std::size_t at = kRiffHeadBytes;;) {
    if (encoded.size() - at < kChunkHeadBytes) return wav_damage("premature end of the data", encoded.size());
    const std::string_view name = encoded.substr(at, 4);
    const std::size_t size = number_at<std::uint32_t>(encoded, at + 4);
    at += kChunkHeadBytes;
    if (encoded.size() - at < size) return wav_damage("premature end of the data", encoded.size());
    const std::string_view chunk = encoded.substr(at, size);
    if (name == "fmt ") {
      result<wav_format> f = read_format(chunk, at);
      if (!f.ok()) return f.why();
      parts.format = *f;
      has_format = true;
    } else if (name == "data") {
      if (!has_format) return wav_damage("samples before their format", at);
      if (size % parts.format.frame_bytes != 0) return wav_damage("a part of a sample", at + size);
      parts.data = chunk;
      return parts;
    }
    at += size;
    if (size % 2 == 1 && at != encoded.size()) ++at;  // chunks begin at even offsets
  }
}

float value_at(const char* p, const wav_format& f) noexcept {
  if (f.form == kFloat) {
    if (f.bits == 32) return number_at<float>({p, 4}, 0);
    return static_cast<float>(number_at<double>({p, 8}, 0));
  }
  switch (f.bits) {
    case 8: return static_cast<float>(static_cast<std::uint8_t>(*p) - 128) * 0x1p-7f;
    case 16: return static_cast<float>(number_at<std::int16_t>({p, 2}, 0)) * 0x1p-15f;
    case 24: {
      std::uint32_t n = 0;  // the sample's bytes are the upper three
      std::memcpy(reinterpret_cast<char*>(&n) + 1, p, 3);
      return static_cast<float>(static_cast<std::int32_t>(n) >> 8) * 0x1p-23f;
    }
    default: return static_cast<float>(number_at<std::int32_t>({p, 4}, 0)) * 0x1p-31f;
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
  const std::size_t in_file = parts->data.size() / f.frame_bytes;
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
  const std::size_t decoded = std::min(samples, in_file), value_bytes = f.bits / 8;
  float* to = out.data();
  for (std::size_t i = 0; i != decoded; ++i)
    for (std::size_t c = 0; c != channels; ++c)
      *to++ =
          value_at(parts->data.data() + i * f.frame_bytes + std::min<std::size_t>(c, f.channels - 1) * value_bytes, f);
  std::fill(to, out.data() + out.size(), 0.0f);
  return made;
}

}  // namespace sluice::lib
