// SPDX-License-Identifier: Apache-2.0
// Compressed frames of elements.
//
//   frame_packer packer;
//   std::string packed;
//   auto packing = packer.pack(frame_codec::zstd, frame, packed);       // packed may be longer than the frame
//   auto unpacking = unpack_frame(*packed_frame::read(bytes));
//
// Shape:  one byte for the kind (element_frame::packed); one for the codec; the number of bytes of the frame, a varint; their
//         crc32c (4 bytes, little-endian); then the frame in parts of 1 MiB (the last one may be shorter), each the size of
//         its compressed bytes (4 bytes, little-endian) and these.
// Errors: data_loss: damaged bytes, a wrong checksum, or a size that these bytes cannot have; unimplemented: this build lacks
//         the codec.
// Thread: a packer has one caller at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/codec/zstd_frames.hpp"
#include "sluice/base/result.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/element/slice.hpp"

namespace sluice::lib {

enum class frame_codec : std::uint8_t { zstd = 1, lz4 = 2 };

/// Returns "zstd", for example.
std::string_view name_of(frame_codec c);
std::optional<frame_codec> frame_codec_named(std::string_view name);
/// Returns the codecs that this build has, the preferred one first.
const std::vector<frame_codec>& frame_codecs();

class frame_packer {
 public:
  /// Replaces `out` by the compressed frame.
  task<status> pack(frame_codec c, std::string_view frame, std::string& out);

 private:
  zstd_frames zstd_;
};

struct packed_frame {
  static constexpr std::size_t kPartBytes = std::size_t{1} << 20;
  frame_codec codec = frame_codec::zstd;
  std::uint64_t raw_bytes = 0;
  std::uint32_t crc = 0;
  std::string_view parts = {};  ///< of the bytes that were read

  static bool is_one(std::string_view bytes);
  /// Reads the head. `bytes_max`: the largest permitted frame. Allocates nothing.
  static result<packed_frame> read(std::string_view bytes, std::uint64_t bytes_max);
};

/// Decompresses into a buffer of f.raw_bytes, which the caller has charged. REQUIRES: the bytes of f.parts stay valid.
task<result<slice>> unpack_frame(packed_frame f);

}  // namespace sluice::lib
