// SPDX-License-Identifier: Apache-2.0
// Decompresses gzip, zlib, zstd, lz4, snappy, bzip2 and xz, a window at a time.
//
//   inflater gz(compression::gzip);
//   inflate_step s = gz.step(input, last, out, out_bytes);
//   // s.consumed of the input, s.produced in out, s.why; s.ended: the stream is complete
//
// The output never exceeds the caller's room, so a decompression bomb costs time but no memory. inflate_limits bounds
// the time, too. Concatenated members are one stream if the format allows them (gzip, zstd, lz4, bzip2, xz, snappy). A
// zlib file has only one stream.
// Errors: data_loss: not a file of the format, damaged (a wrong checksum, an impossible code, reserved flags in a gzip
//         header), truncated, bytes after the end, larger than inflate_limits allows. The reader adds the file's name;
//         in_bytes() is the compressed offset reached. unimplemented: the library was built without the format.
// Owns:   held_bytes() of state. If a member's header states how much memory the format needs, the inflater requests
//         that memory before it allocates it: see allow().
// Thread: not safe for concurrent use; one inflater per file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sluice/base/field_types.hpp"
#include "sluice/base/result.hpp"
#include "sluice/format/seek_points.hpp"

namespace sluice::lib {

/// Parses "none" (or ""), "gzip", "zlib", "zstd" …, "auto", in upper or lower case, so that tf.data's "GZIP" and "ZLIB"
/// are accepted.
result<compression> parse_compression(std::string_view text);
std::string_view to_string(compression c);
/// Returns false if the library was built without it. Every step of such an inflater returns unimplemented.
bool is_built_in(compression c);

/// The number of bytes at a file's beginning that may_be_compressed() needs. detect_compression() needs
/// kCompressionGuessBytes.
inline constexpr std::size_t kCompressionMagicBytes = 12;  // a TFRecord is recognized by the CRC of its first length
inline constexpr std::size_t kCompressionGuessBytes = 4096;

/// Returns false if a file with these first kCompressionMagicBytes (or all bytes of a shorter file) is not compressed.
bool may_be_compressed(std::string_view first_bytes);

/// Detects the compression by the file's first kCompressionGuessBytes, or all bytes of a shorter file.
/// gzip: the magic bytes, deflate, no reserved flags. zlib: a header with a correct checksum, of any window size,
/// without a dictionary. zstd, lz4, snappy, bzip2, xz: their magic bytes; skippable frames of zstd and lz4 count as
/// zstd. A text ("x^2", "BZh9") or a number may begin with such bytes, too, so the beginning is decompressed. If that
/// fails at once, or if a zlib stream neither ends nor yields 512 bytes, the file is not compressed. If the name ends
/// in .gz, .gzip, .tgz, .zz, .zlib, .zst, .zstd, .lz4, .sz, .snappy, .bz2 or .xz, a correct header is enough, so that
/// damage soon after the header is reported as damage of a compressed file. snappy_blocks has no header, and must be
/// named.
compression detect_compression(std::string_view first_bytes, std::string_view path = {});
/// Returns "a.csv" for "a.csv.zst": removes the suffix of a compression, if present. Keeps ".tgz", which also means
/// tar.
std::string_view without_compression_suffix(std::string_view path);

struct inflate_step {
  std::size_t consumed = 0;
  std::size_t produced = 0;
  bool ended = false;  ///< the stream is complete and the input is consumed
  /// If not 0: continues after allow() with at least this number of bytes.
  std::size_t wants_bytes = 0;
  status why;
};

struct inflate_limits {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  /// The ratio is checked after this number of plain bytes: less does no harm, and a short run of zeros may have any
  /// ratio.
  static constexpr std::uint64_t kRatioFrom = std::uint64_t{1} << 20;

  std::uint64_t bytes_max = kNone;  ///< plain bytes of the whole file; a larger file is an error
  std::uint64_t ratio_max = kNone;  ///< plain bytes per compressed byte so far
  std::size_t held_max = kHeldAny;  ///< bytes of state; if more are needed, step() requests them
                                    ///< (inflate_step::wants_bytes)
  static constexpr std::size_t kHeldAny = ~std::size_t{0};
};

class inflater {
 public:
  /// The memory of an inflater for gzip or zlib, with its window, and of any other before it has read a member's
  /// header.
  static constexpr std::size_t kBytes = std::size_t{88} << 10;
  /// REQUIRES: `format` is neither automatic nor none.
  explicit inflater(compression format, inflate_limits limits = {});
  inflater(inflater&&) noexcept;
  inflater& operator=(inflater&&) noexcept;
  ~inflater();

  /// Consumes `input` and fills `out` as far as both suffice. `last`: no input follows. A step that neither consumes
  /// nor produces needs more input after this one, or wants_bytes. An empty file is an empty stream.
  inflate_step step(std::string_view input, bool last, char* out, std::size_t out_bytes);
  /// Continues at a point of this file: the next input begins at its in_bytes. REQUIRES: nothing was inflated yet.
  /// Errors: data_loss: its window is damaged.
  status go_to(const seek_point& point);
  /// Adds the file's points to `to`, which must outlive this. REQUIRES: nothing was inflated yet.
  void note_points(seek_point_builder& to);
  /// Allows up to this number of bytes of state from now on.
  void allow(std::size_t held_bytes);
  /// The largest number of bytes of state that it may use at present.
  std::size_t held_bytes() const noexcept;
  /// The number of compressed bytes consumed, and of plain bytes produced, so far.
  std::uint64_t in_bytes() const noexcept { return in_bytes_; }
  std::uint64_t out_bytes() const noexcept { return out_bytes_; }
  /// The number of complete members, or zlib streams. For snappy: chunks; for snappy_blocks: blocks.
  std::uint64_t members() const noexcept;

 private:
  struct state;
  /// Called between members. Returns false, with the reason in `done`, unless a member begins or padding was skipped.
  bool begin_member(std::string_view rest, bool last, inflate_step& done);
  std::unique_ptr<state> state_;
  std::uint64_t in_bytes_ = 0, out_bytes_ = 0;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::detect_compression;
using lib::inflate_limits;
using lib::inflater;
using lib::parse_compression;

}  // namespace sluice
