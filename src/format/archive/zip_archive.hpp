// SPDX-License-Identifier: Apache-2.0
// The parts of a zip archive: where its directory is, what that says of each member, and what stands in front of a member's bytes.
//
//   zip_directory d;
//   status why = find_zip_directory(tail, at, d);                     // tail: the last bytes of the file, from `at` on
//   zip_entry e;
//   why = read_zip_entry(directory, d, e);                            // directory: bytes from d.offset on
//   zip_inflater undo;                                                // of a deflated member; zip_crc() checks either kind
//
// The next entry begins e.size_bytes on. zip64, data descriptors (whose sizes the directory has, too), archives with bytes in front
// of them. The directory is believed; what stands in front of a member has to agree in its name.
// Errors: data_loss: there is no directory, or it is cut, or points at what cannot be. unimplemented: encrypted members,
//         methods other than stored and deflated, archives in several parts. resource_exhausted: a member above
//         kZipMemberBytesMax.
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
/// The file's last bytes have to be looked at so far for the end of the directory: its record, a comment, and zip64's records.
inline constexpr std::size_t kZipTailBytes = 22 + 65535 + 20 + 56;
inline constexpr std::size_t kZipHeaderBytes = 30;

struct zip_directory {
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t size_bytes = 0;
  std::uint64_t entries = 0;
  std::uint64_t shift = 0;  ///< how many bytes stand in front of the archive: added to the offsets that it says
};
/// `tail`: what the file ends with, from the offset `at` on: kZipTailBytes, or all of it.
status find_zip_directory(std::string_view tail, std::uint64_t at, zip_directory& to);

struct zip_entry {
  std::string name;
  bool is_file = false;  ///< else a folder or a link
  bool is_deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t packed_bytes = 0, plain_bytes = 0;
  std::uint64_t header_at = 0;  ///< in the file
  std::size_t size_bytes = 0;   ///< in the directory
  /// Why its bytes cannot be had: what is encrypted, or packed by another method, or too large.
  status refused = {};
};
/// The entry that `rest` begins with. Errors: the directory cannot be read on from here.
status read_zip_entry(std::string_view rest, const zip_directory& d, zip_entry& to);

/// What stands in front of a member's bytes, how long it is. `header`: the bytes at header_at, kZipHeaderBytes of them, or all
/// that are needed. `needed`: is made larger where `header` is too short.
status read_zip_header(std::string_view header, const zip_entry& e, std::size_t& needed);

/// Undoes a deflated member.
class zip_inflater {
 public:
  zip_inflater();
  ~zip_inflater();
  zip_inflater(const zip_inflater&) = delete;
  zip_inflater& operator=(const zip_inflater&) = delete;

  struct step {
    std::size_t consumed = 0, produced = 0;
    bool ended = false;  ///< of a deflated stream
    status why = {};
  };
  step inflate(std::string_view in, char* to, std::size_t room);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

std::uint32_t zip_crc(std::string_view bytes, std::uint32_t before = 0);

}  // namespace sluice::lib
