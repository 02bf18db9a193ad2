// SPDX-License-Identifier: Apache-2.0
// Reads the parts of a zip archive: its directory, the directory's entries, and the header before a member's bytes.
//
//   zip_directory d;
//   status why = find_zip_directory(tail, at, d);                     // tail: the last bytes of the file, from `at` on
//   zip_entry e;
//   why = read_zip_entry(directory, d, e);                            // directory: bytes from d.offset on
//   zip_inflater undo;                                                // decompresses a deflated member; zip_crc() checks any member
//
// The next entry begins e.size_bytes later. Supported are zip64, data descriptors (whose sizes are also in the
// directory), and archives with bytes before them. The directory is authoritative; the header before a member must
// contain the same name.
// Errors: data_loss: the directory is missing or incomplete, or points to impossible places. unimplemented: encrypted
//         members, methods other than stored and deflated, archives in several parts. resource_exhausted: a member
//         above kZipMemberBytesMax.
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/base/status.hpp"

namespace sluice::lib {

inline constexpr std::uint64_t kZipMemberBytesMax = std::uint64_t{1} << 31;
inline constexpr std::uint64_t kZipDirectoryBytesMax = std::uint64_t{1} << 30;
/// The number of bytes at the file's end that may contain the end of the directory: its record, a comment, and zip64's
/// records.
inline constexpr std::size_t kZipTailBytes = 22 + 65535 + 20 + 56;
inline constexpr std::size_t kZipHeaderBytes = 30;

struct zip_directory {
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t size_bytes = 0;
  std::uint64_t entries = 0;
  std::uint64_t following_bytes = 0;  ///< the number of bytes after the archive, which do not belong to it
  std::uint64_t shift = 0;            ///< the number of bytes before the archive, which is added to the offsets in it
};
/// `tail`: the end of the file, from offset `at` on: kZipTailBytes, or the whole file.
status find_zip_directory(std::string_view tail, std::uint64_t at, zip_directory& to);

struct zip_entry {
  std::string name;
  bool is_file = false;  ///< false: a folder or a link
  bool is_deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t packed_bytes = 0, plain_bytes = 0;
  std::uint64_t header_at = 0;  ///< in the file
  std::size_t size_bytes = 0;   ///< in the directory
  /// The reason why its bytes cannot be read: they are encrypted, packed by another method, or too large.
  status refused = {};
};
/// Reads the entry at the start of `rest`. Errors: the directory cannot be read further.
status read_zip_entry(std::string_view rest, const zip_directory& d, zip_entry& to);

/// Checks the header before a member's bytes and computes its length. `header`: the bytes at header_at, kZipHeaderBytes
/// of them, or as many as are needed. `needed` is increased if `header` is too short.
status read_zip_header(std::string_view header, const zip_entry& e, std::size_t& needed);

/// Returns true if the bytes are those before a member.
bool begins_zip_member(std::string_view bytes);

/// Decompresses a deflated member.
class zip_inflater {
 public:
  zip_inflater();
  ~zip_inflater();
  zip_inflater(const zip_inflater&) = delete;
  zip_inflater& operator=(const zip_inflater&) = delete;

  struct step {
    std::size_t consumed = 0, produced = 0;
    bool ended = false;  ///< the deflated stream has ended
    status why = {};
  };
  step inflate(std::string_view in, char* to, std::size_t room);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

std::uint32_t zip_crc(std::string_view bytes, std::uint32_t before = 0);

}  // namespace sluice::lib
