// SPDX-License-Identifier: Apache-2.0
// The files of an output and their lengths, which a checkpoint records for the elements before it.
//
// A file is identified by device and inode, which a rename preserves, so that a checkpoint fits an output before and
// after it took its name. A file with another inode is accepted if all its bytes are the same (a copy, a restored
// backup). A file that merely begins with the same bytes may be anything, such as an input, and is not cut.
// Altered bytes are detected in files of up to kCheckedWhole by a checksum of all bytes. Longer files have a checksum
// of the last kTailBytes before the length, because reading a long output at each resume would cost what the resume
// saves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/status.hpp"

namespace sluice::lib {

inline constexpr std::uint64_t kTailBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kCheckedWhole = std::uint64_t{64} << 20;

/// One file.
struct shard_place {
  std::uint64_t device = 0, inode = 0;  ///< both 0: not a file that can be resumed
  std::uint64_t length_bytes = 0;
  std::uint64_t head_bytes = 0;  ///< the first of them, which checksums exclude
  /// False if standard output had bytes before the program started; their checksum is unknown.
  bool has_whole_crc = false;
  std::uint32_t whole_crc = 0, tail_crc = 0;
  std::uint64_t plain_bytes = 0;  ///< before compression
  std::string encoder;            ///< element_encoder::save()

  bool is_file() const { return device != 0 || inode != 0; }
};

struct output_place {
  std::string format;                         ///< jsonl, csv …
  std::string compression;                    ///< none, gzip
  std::string path;                           ///< as typed; empty: standard output
  std::uint64_t shards = 1, shard_bytes = 0;  ///< as in output_options
  std::uint64_t elements = 0;                 ///< in all files
  std::uint64_t first_shard = 0;              ///< the number of the shard files[0]; shards before it are complete
  std::vector<shard_place> files;

  bool empty() const { return format.empty(); }
};

/// Serializes a place for the checkpoint's file. An empty place gives an empty string.
std::string to_bytes(const output_place& place);
/// Errors: data_loss.
status read_place(std::string_view bytes, output_place& place);

/// Computes the CRC of the last kTailBytes before `length_bytes` of an open file, without its head. Errors: those of
/// reading it.
status read_tail_crc(int fd, std::uint64_t head_bytes, std::uint64_t length_bytes, std::uint32_t& crc);
/// Checks that the open file, named `path` (formerly `was_named`), is the file with this place, and is unaltered up to
/// the length. `is_partial`: only outputs of this library have such a name, so that a copy may be longer too. Errors:
/// failed_precondition: it is shorter, another file, or altered; those of reading it.
status check_place(int fd, const std::string& path, const std::string& was_named, const shard_place& place,
                   bool is_partial = false);

}  // namespace sluice::lib
