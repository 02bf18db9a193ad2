// SPDX-License-Identifier: Apache-2.0
// Undoes compression (gzip, zlib, zstd, lz4, snappy, bzip2, xz), a window at a time.
//
//   inflater gz(compression::gzip);
//   inflate_step s = gz.step(input, last, out, out_bytes);
//   // s.consumed of the input, s.produced in out, s.why; s.ended: nothing more will come
//
// The output is as large as the caller's room and no larger, so a bomb costs time, not memory; inflate_limits bounds the time, too.
// Concatenated members are one stream where the format has them (gzip, zstd, lz4, bzip2, xz, snappy); zlib streams stand alone.
// Errors: data_loss: not a file of the format, damaged (a wrong checksum, an impossible code, reserved flags in a gzip
//   header), cut short, bytes after the end, larger than inflate_limits allows. The reader adds the file's name; in_bytes() is
//   the compressed offset reached. unimplemented: the library was built without the format.
// Owns: held_bytes() of state. A format whose members say how much memory they take asks for it before it takes it: see allow().
// Thread: none; one inflater per file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sluice/base/field_types.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib {

/// "none" (or ""), "gzip", "zlib", "zstd" …, "auto", in any case, so that tf.data's "GZIP" and "ZLIB" are understood.
result<compression> parse_compression(std::string_view text);
std::string_view to_string(compression c);
/// False: the library was built without it, and every step of an inflater answers with unimplemented.
bool is_built_in(compression c);

/// Bytes of a file's beginning that tell whether it may be compressed at all, and that detect_compression wants if so.
inline constexpr std::size_t kCompressionMagicBytes = 12;  // a TFRecord is known by the CRC of its first length
inline constexpr std::size_t kCompressionGuessBytes = 4096;

/// False: a file that begins with these kCompressionMagicBytes (fewer: all there are) is plain.
bool may_be_compressed(std::string_view first_bytes);

/// What a file is, by its first kCompressionGuessBytes, or all there are.
/// gzip: the magic bytes, deflate, no reserved flags. zlib: a header with a sound checksum, of any window size, without a
/// dictionary. zstd, lz4, snappy, bzip2, xz: their magic bytes; skippable frames of zstd and lz4 as zstd. Such bytes may also
/// begin a text ("x^2", "BZh9") or a number, so the beginning is decompressed: where that fails at once, or a zlib stream is
/// neither ended nor 512 bytes long, the file is plain. A name in .gz, .gzip, .tgz, .zz, .zlib, .zst, .zstd, .lz4, .sz, .snappy,
/// .bz2 or .xz makes a right header enough, so that damage close behind it is told as damage of a compressed file. snappy_blocks
/// has no header, and has to be named.
compression detect_compression(std::string_view first_bytes, std::string_view path = {});
/// "a.csv" of "a.csv.zst": without the suffix of a compression, if there is one. ".tgz" stays, which says tar as well.
std::string_view without_compression_suffix(std::string_view path);

struct inflate_step {
  std::size_t consumed = 0;
  std::size_t produced = 0;
  bool ended = false;           ///< the stream is complete and the input is used up
  std::size_t wants_bytes = 0;  ///< not 0: goes on when it may hold so many bytes in all (allow)
  status why;
};

struct inflate_limits {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  /// From so many plain bytes on the ratio counts: what is smaller does no harm, and a short run of zeros has any ratio.
  static constexpr std::uint64_t kRatioFrom = std::uint64_t{1} << 20;

  std::uint64_t bytes_max = kNone;  ///< plain bytes of the whole file; what comes after so many is an error
  std::uint64_t ratio_max = kNone;  ///< plain bytes for each compressed byte so far
  std::size_t held_max = kHeldAny;  ///< bytes of state; more is asked for (inflate_step::wants_bytes)
  static constexpr std::size_t kHeldAny = ~std::size_t{0};
};

class inflater {
 public:
  /// What one of gzip or zlib takes, its window included, and what any other takes before it has seen a member's header.
  static constexpr std::size_t kBytes = std::size_t{88} << 10;
  /// REQUIRES: `format` is neither automatic nor none.
  explicit inflater(compression format, inflate_limits limits = {});
  inflater(inflater&&) noexcept;
  inflater& operator=(inflater&&) noexcept;
  ~inflater();

  /// Takes from `input` and fills `out` as far as both go. `last`: no input follows this. A step that neither consumes
  /// nor produces wants more input behind this one, or wants_bytes. An empty file is an empty stream.
  inflate_step step(std::string_view input, bool last, char* out, std::size_t out_bytes);
  /// From now on it may hold so many bytes.
  void allow(std::size_t held_bytes);
  /// What it holds at most at present.
  std::size_t held_bytes() const noexcept;
  /// Compressed bytes taken, and plain bytes given, so far.
  std::uint64_t in_bytes() const noexcept { return in_bytes_; }
  std::uint64_t out_bytes() const noexcept { return out_bytes_; }
  /// Members, or zlib streams, that are complete. Of snappy: chunks; of snappy_blocks: blocks.
  std::uint64_t members() const noexcept;

 private:
  struct state;
  /// Between members: false, and why in `done`, unless one begins or padding was passed over.
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
