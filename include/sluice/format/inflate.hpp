// SPDX-License-Identifier: Apache-2.0
// Undoes gzip and zlib, a window at a time.
//
//   inflater gz(compression::gzip);
//   inflate_step s = gz.step(input, last, out, out_bytes);
//   // s.consumed of the input, s.produced in out, s.why; s.ended: nothing more will come
//
// The output is as large as the caller's room and no larger, so a bomb costs time, not memory. Concatenated gzip
// members are one stream (as gzip, pigz and bgzip write them); zlib streams stand alone.
// Errors: data_loss: not a gzip or zlib file, damaged (a wrong checksum, an impossible code, reserved flags in a gzip
//   header), cut short, bytes after the end. The reader adds the file's name; in_bytes() is the compressed offset reached.
// Owns: kBytes of state.  Thread: none; one inflater per file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sluice/base/field_types.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib {

/// "none" (or ""), "gzip", "zlib", "auto", in any case, so that tf.data's "GZIP" and "ZLIB" are understood.
result<compression> parse_compression(std::string_view text);
std::string_view to_string(compression c);

/// Bytes of a file's beginning that tell whether it may be compressed at all, and that detect_compression wants if so.
inline constexpr std::size_t kCompressionMagicBytes = 12;  // a TFRecord is known by the CRC of its first length
inline constexpr std::size_t kCompressionGuessBytes = 4096;

/// False: a file that begins with these kCompressionMagicBytes (fewer: all there are) is plain.
bool may_be_compressed(std::string_view first_bytes);

/// What a file is, by its first kCompressionGuessBytes, or all there are.
/// gzip: the magic bytes, deflate, no reserved flags. zlib: a header with a sound checksum, of any window size, without a
/// dictionary. Such bytes may also begin a text ("x^2") or a number, so the beginning is decompressed: where that fails
/// at once, or a zlib stream is neither ended nor 512 bytes long, the file is plain. A name in .gz, .gzip, .tgz, .zz or
/// .zlib makes a right header enough, so that damage close behind it is told as damage of a compressed file.
compression detect_compression(std::string_view first_bytes, std::string_view path = {});

struct inflate_step {
  std::size_t consumed = 0;
  std::size_t produced = 0;
  bool ended = false;  ///< the stream is complete and the input is used up
  status why;
};

class inflater {
 public:
  /// What one takes, its window included.
  static constexpr std::size_t kBytes = std::size_t{88} << 10;
  /// `format` is gzip or zlib.
  explicit inflater(compression format);
  inflater(inflater&&) noexcept;
  inflater& operator=(inflater&&) noexcept;
  ~inflater();

  /// Takes from `input` and fills `out` as far as both go. `last`: no input follows this. A step that neither consumes
  /// nor produces wants more input behind this one. An empty file is an empty stream.
  inflate_step step(std::string_view input, bool last, char* out, std::size_t out_bytes);
  /// Compressed bytes taken, and plain bytes given, so far.
  std::uint64_t in_bytes() const noexcept { return in_bytes_; }
  std::uint64_t out_bytes() const noexcept { return out_bytes_; }
  /// gzip members, or zlib streams, that are complete.
  std::uint64_t members() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
  std::uint64_t in_bytes_ = 0, out_bytes_ = 0;
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::detect_compression;
using lib::inflater;
using lib::parse_compression;

}  // namespace sluice
