// SPDX-License-Identifier: Apache-2.0
// The members of a tar archive: finds them in a window of bytes, and copies nothing.
//
//   tar_step s = read_tar_entry({.bytes = window, .end = file_size, .offset = at}, from, true);
//   // s.entry, whose data are bytes.substr(s.entry.data_at, s.entry.data_bytes); the next entry begins at from + s.size_bytes
//
// An entry is a header of 512 bytes, with the extended headers in front of it that speak of it (pax `x`, GNU `L` and `K`), and its data,
// padded to 512 bytes. ustar, pax, GNU and the old form without a magic word are read. Two blocks of zeros, or the end of the file, end the archive:
// only zeros may follow (read_tar_tail).
// Errors: data_loss: a header whose checksum is wrong, a number that is none, a pax record that is none, an end within an entry, a
//         lone block of zeros, other bytes behind the end. unimplemented: sparse members; a path or a size in a global header. resource_exhausted: a file above kTarMemberBytesMax,
//         an extended header above kTarExtensionBytesMax: element limits; nothing is allocated for them.
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/base/status.hpp"

namespace sluice::lib {

inline constexpr std::size_t kTarBlockBytes = 512;
inline constexpr std::uint64_t kTarMemberBytesMax = std::uint64_t{1} << 31;
inline constexpr std::uint64_t kTarExtensionBytesMax = std::uint64_t{1} << 20;

struct tar_window {
  std::string_view bytes;
  std::uint64_t end = provenance::kUnknown;  ///< size of the file, where it is known
  std::uint64_t offset = 0;                  ///< of bytes[0] in the file
  bool last = false;                         ///< nothing follows `bytes`
};

struct tar_entry {
  std::string name;
  bool is_file = false;  ///< else a directory, a link, a device …, which have no data of their own
  std::size_t data_at = 0;
  std::uint64_t data_bytes = 0;
};

struct tar_step {
  enum class kind : std::uint8_t { entry, incomplete, end, broken } is = kind::incomplete;
  tar_entry entry;
  std::uint64_t size_bytes = 0;  ///< entry, and broken where the length is known: how far the next one is
  std::size_t needed_bytes = 0;  ///< incomplete: so many from `from` on
  status why;                    ///< broken
};

/// The entry that begins at bytes[from]. Without `needs_data` only its headers have to be in the window, if the file's size is
/// known.
tar_step read_tar_entry(const tar_window& w, std::size_t from, bool needs_data);

/// The bytes behind the end of an archive, which have to be zeros.
struct tar_tail {
  std::size_t used_bytes = 0;    ///< zeros
  std::size_t needed_bytes = 0;  ///< to go on
  bool has_ended = false;        ///< the file ends
  status why{};                  ///< data_loss: other bytes follow
};
/// `w` begins with a block of zeros that ends an archive. Called again until the file ends or other bytes are found.
tar_tail read_tar_tail(const tar_window& w);

/// The first place in [from, to) of the window, at a multiple of 512 bytes in the file, where a sound header begins; npos: none.
std::size_t find_tar_entry(const tar_window& w, std::size_t from, std::size_t to);

}  // namespace sluice::lib
