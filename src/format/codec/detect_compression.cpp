// SPDX-License-Identifier: Apache-2.0
// Detects the compression of a file from its first bytes and its name, and names the kinds of compression.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>

#include "format/codec/byte_codec.hpp"
#include "format/codec/deflate_header.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/format/tfrecord_frames.hpp"

namespace sluice::lib {
namespace {

using detail::beginning;

constexpr std::array kCompressions = {
    compression::none,   compression::gzip,          compression::zlib,  compression::zstd, compression::lz4,
    compression::snappy, compression::snappy_blocks, compression::bzip2, compression::xz,   compression::automatic};

/// The number of compressed bytes that must decompress without an error. Fewer than one in 10²⁰ texts that begin like
/// zlib pass this test. (A byte of text fails with a probability of some 10 %, mostly as a reference to before the
/// beginning.)
constexpr std::size_t kConvincingBytes = 512;
/// The number of bytes that distinguishes a format with a long magic number from a text that happens to begin with it.
constexpr std::size_t kConvincingMagicBytes = 10;
/// The memory limit of a trial; a header that asks for more counts as a match.
constexpr std::size_t kTrialBytes = std::size_t{16} << 20;

bool is_gzip_header(std::string_view b) {
  return b.size() > detail::kGzipFlagsAt && b.starts_with("\x1f\x8b\x08") && !detail::has_reserved_gzip_flags(b);
}
bool is_zlib_header_without_dictionary(std::string_view b) {
  constexpr unsigned char kDictionary = 0x20;
  return detail::is_zlib_header(b) && (static_cast<unsigned char>(b[1]) & kDictionary) == 0;
}

struct known_magic {
  compression format;
  std::string_view bytes;
  std::array<std::string_view, 3> suffixes = {};
};
constexpr std::array<known_magic, 6> kMagics = {{
    {compression::gzip, "\x1f\x8b", {".gz", ".gzip", ".tgz"}},
    {compression::zstd, "\x28\xb5\x2f\xfd", {".zst", ".zstd"}},
    {compression::lz4, "\x04\x22\x4d\x18", {".lz4"}},
    {compression::snappy, std::string_view("\xff\x06\0\0sNaPpY", 10), {".sz", ".snappy"}},
    {compression::bzip2, "BZh", {".bz2", ".bzip2"}},
    {compression::xz,
     std::string_view("\xfd"
                      "7zXZ\0",
                      6),
     {".xz"}},
}};
constexpr std::array<std::string_view, 3> kZlibSuffixes = {".zz", ".zlib"};

bool ends_with_any(std::string_view path, const std::array<std::string_view, 3>& suffixes) {
  return std::ranges::any_of(suffixes, [&](std::string_view s) { return !s.empty() && path.ends_with(s); });
}

const known_magic* magic_of(std::string_view first, std::string_view path) {
  for (const known_magic& m : kMagics)
    if (first.starts_with(m.bytes)) return &m;
  // zstd and lz4 share the skippable frame, so the file's name decides which format follows it.
  if (first.size() < 4 || detail::begins_skippable(first) != beginning::yes) return nullptr;
  return &kMagics[ends_with_any(path, kMagics[2].suffixes) ? 2 : 1];
}

/// Returns true if `bytes`, the beginning of a file, decompress as far as they can be expected to.
bool decompresses(compression c, std::string_view bytes) {
  // small, to find the end of the header, which may contain long names and comments
  constexpr std::size_t kPiece = 32;
  const bool is_skippable = detail::begins_skippable(bytes) == beginning::yes;
  inflater trial(c, {.held_max = kTrialBytes});
  char out[4096];
  std::uint64_t body = 0;  // the offset at which the first output appeared
  inflate_step s;
  for (std::size_t have = std::min(kPiece, bytes.size());;) {
    s = trial.step(bytes.substr(trial.in_bytes(), have - trial.in_bytes()), false, out, sizeof out);
    if (trial.members() > 0 && is_skippable) return s.why.ok();  // if anything follows, it is a frame
    if (trial.members() > 0 || s.wants_bytes) return true;       // the member ended with a correct checksum
    if (!s.why.ok()) break;
    if (trial.out_bytes() == 0) body = trial.in_bytes();
    if (s.consumed || s.produced) continue;
    if (have == bytes.size()) break;
    have = std::min(have + kPiece, bytes.size());
  }
  if (is_skippable) return false;
  // Without the library the known_magic bytes must suffice, and reading reports the missing library.
  if (s.why.code() == status_code::unimplemented) return true;
  if (c != compression::gzip && c != compression::zlib) return s.why.ok() && bytes.size() >= kConvincingMagicBytes;
  if (trial.in_bytes() - body >= kConvincingBytes) return true;
  // The data are shorter than that, and do not end here. gzip has a longer header, so they are accepted as a
  // truncated gzip file unless all bytes belong to the header; zlib's short header proves nothing.
  return s.why.ok() && c == compression::gzip && (trial.out_bytes() > 0 || bytes.size() < kConvincingBytes);
}

}  // namespace

result<compression> parse_compression(std::string_view text) {
  std::string names;
  for (compression c : kCompressions) {
    const std::string name(to_string(c));
    if (absl::EqualsIgnoreCase(std::string(text), name)) return c;
    absl::StrAppend(&names, names.empty() ? "" : c == kCompressions.back() ? " and " : ", ", name);
  }
  if (text.empty()) return compression::none;
  return invalid_argument_error(absl::StrCat("\"", std::string(text), "\" is no compression; there are ", names));
}

std::string_view to_string(compression c) {
  switch (c) {
    case compression::none: return "none";
    case compression::gzip: return "gzip";
    case compression::zlib: return "zlib";
    case compression::zstd: return "zstd";
    case compression::lz4: return "lz4";
    case compression::snappy: return "snappy";
    case compression::snappy_blocks: return "snappy_blocks";
    case compression::bzip2: return "bzip2";
    case compression::xz: return "xz";
    case compression::automatic: return "auto";
  }
  return "none";
}

bool may_be_compressed(std::string_view first) {
  // A TFRecord whose first record has 376 or 40056 bytes begins like a zlib stream; the CRC of its length tells them
  // apart.
  if (find_tfrecord({.bytes = first.substr(0, kTfrecordHeaderBytes)}, 0) == 0) return false;
  return magic_of(first, {}) || is_zlib_header_without_dictionary(first);
}

std::string_view without_compression_suffix(std::string_view path) {
  auto drop = [&path](const std::array<std::string_view, 3>& suffixes) {
    for (std::string_view s : suffixes) {
      if (s.empty() || s == ".tgz" || !path.ends_with(s)) continue;
      path.remove_suffix(s.size());
      return true;
    }
    return false;
  };
  if (std::ranges::any_of(kMagics, [&](const known_magic& m) { return drop(m.suffixes); })) return path;
  drop(kZlibSuffixes);
  return path;
}

compression detect_compression(std::string_view first, std::string_view path) {
  if (!may_be_compressed(first)) return compression::none;
  if (const known_magic* m = magic_of(first, path)) {
    if (ends_with_any(path, m->suffixes)) return m->format;
    if (m->format == compression::gzip && !is_gzip_header(first)) return compression::none;
    return decompresses(m->format, first) ? m->format : compression::none;
  }
  if (ends_with_any(path, kZlibSuffixes)) return compression::zlib;
  return decompresses(compression::zlib, first) ? compression::zlib : compression::none;
}

}  // namespace sluice::lib
