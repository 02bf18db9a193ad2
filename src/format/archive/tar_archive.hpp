// SPDX-License-Identifier: Apache-2.0
// Finds the members of a tar archive in a window of bytes, without copying.
//
//   tar_step s = read_tar_entry({.bytes = window, .end = file_size, .offset = at}, from, true);
//   // s.entry, whose data are bytes.substr(s.entry.data_at, s.entry.data_bytes); the next entry begins at from + s.size_bytes
//
// An entry consists of the extended headers that apply to it (pax `x`, GNU `L` and `K`), a header of 512 bytes, and its
// data, padded to 512 bytes. The formats ustar, pax, GNU and the old form without a magic number are supported. Two
// blocks of zeros, or the end of the file, end the archive; bytes after them are ignored.
// Errors: data_loss: a wrong checksum of a header, an invalid number, an invalid pax record, an end within an entry, a
//         single block of zeros. unimplemented: sparse members; a path or a size in a global header.
//         resource_exhausted: a file above kTarMemberBytesMax, or an extended header above kTarExtensionBytesMax, for
//         which nothing is allocated.
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
  std::uint64_t end = provenance::kUnknown;  ///< the size of the file, if it is known
  std::uint64_t offset = 0;                  ///< the offset of bytes[0] in the file
  bool last = false;                         ///< nothing follows `bytes`
};

struct tar_entry {
  std::string name;
  bool is_file = false;  ///< false: a directory, a link, a device …, which has no data
  std::size_t data_at = 0;
  std::uint64_t data_bytes = 0;
};

struct tar_step {
  enum class kind : std::uint8_t { entry, incomplete, end, broken } is = kind::incomplete;
  tar_entry entry;
  std::uint64_t size_bytes = 0;  ///< for an entry, and for a broken one of known length: the distance to the next
  std::size_t needed_bytes = 0;  ///< incomplete: the number of bytes needed from `from` on
  status why;                    ///< the error of a broken entry
};

/// Reads the entry that begins at bytes[from]. Without `needs_data`, and if the file's size is known, only its headers
/// must be in the window.
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

/// Returns the first place in [from, to) of the window, at a multiple of 512 bytes in the file, at which a valid header
/// begins; npos if there is none.
std::size_t find_tar_entry(const tar_window& w, std::size_t from, std::size_t to);

}  // namespace sluice::lib
