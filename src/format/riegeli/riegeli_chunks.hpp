// SPDX-License-Identifier: Apache-2.0
// Chunks of Riegeli files: their headers, the block headers between their bytes, and the records in simple chunks.
//
//   file_bytes part{bytes, offset};                            // read from a file
//   riegeli_chunk chunk;
//   status why = read_riegeli_chunk(part, at, chunk);          // checks all hashes
//   why = simple_records(chunk, frames, room, sizes);
//
// Format. Blocks of 64 KiB. If a chunk goes on beyond the end of a block, the next one begins with a header of 24 bytes,
//   which is no part of the chunk. A chunk has a header of 40 bytes: hash of the rest | bytes of data | hash of the data |
//   type, 1 byte | records, 7 bytes | decoded bytes. Data of a simple chunk: compression, 1 byte | bytes of the sizes, a
//   varint | sizes: a varint for each record | the records. Both parts may be compressed, after their length.
// Errors: data_loss: a wrong hash, or lengths that do not fit. unimplemented: transposed chunks, or a compression that
//         this build lacks.
// Thread: pure functions.
// See:    doc/riegeli_records_file_format.md of Riegeli
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/codec/zstd_frames.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib {

inline constexpr std::uint64_t kRiegeliBlockBytes = std::uint64_t{64} << 10;
inline constexpr std::uint64_t kRiegeliBlockHeaderBytes = 24, kRiegeliChunkHeaderBytes = 40;

/// Bytes of a file.
struct file_bytes {
  std::string_view bytes;
  std::uint64_t offset = 0;
};

struct riegeli_chunk {
  char type = 0;  ///< s: the beginning of a file, r: simple, t: transposed, p: padding, m: metadata
  std::uint64_t records = 0;
  std::uint64_t decoded_bytes = 0;  ///< of all records together
  std::string_view data{};          ///< in the bytes of the file, or in `joined`
  std::string joined{};             ///< the data, if block headers were between it
};

/// Reads the header of the chunk at this offset of the file. `data_bytes`: receives the length of its data.
status read_riegeli_header(const file_bytes& from, std::uint64_t at, riegeli_chunk& to, std::uint64_t& data_bytes);
/// Reads a chunk. Errors: also data_loss: it goes on beyond the bytes.
status read_riegeli_chunk(const file_bytes& from, std::uint64_t at, riegeli_chunk& to);

/// Decodes the records of a simple chunk into `room`, which has chunk.decoded_bytes bytes. `sizes`: receives their sizes,
/// whose sum is chunk.decoded_bytes. `frames`: the state of zstd, which calls may share.
status simple_records(const riegeli_chunk& chunk, zstd_frames& frames, char* room, std::vector<std::size_t>& sizes);

/// Appends chunks to the bytes of a file.
class riegeli_writer {
 public:
  /// Appends the beginning of a file.
  void begin(std::string& to);
  /// Appends a simple chunk of records. `values`: their bytes, one after another. `level`: of zstd; 0: no compression.
  /// Returns its offset in the file.
  std::uint64_t append(const std::vector<std::string_view>& records, int level, std::string& to);
  /// Appends padding up to the next block.
  void pad(std::string& to);
  std::uint64_t offset() const { return offset_; }
  void set_offset(std::uint64_t offset) { offset_ = offset; }

 private:
  std::uint64_t append_chunk(char type, std::uint64_t records, std::uint64_t decoded, const std::string& data,
                             std::string& to);
  zstd_frames frames_;
  std::uint64_t offset_ = 0;  ///< of the next byte in the file
};

}  // namespace sluice::lib
