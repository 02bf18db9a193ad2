// SPDX-License-Identifier: Apache-2.0
// zip_members: the files in a zip archive.
//
//   zip_members("images.zip") | map([](const zip_member& m) { return m.name; })
//   list_files("train-*.zip") | interleave(zip_members, {.cycle_length = 4})
//
// In plan text the members are name, bytes and offset: `zip_members("images.zip") | map(bytes)`. (`zip` is another
// verb: it pairs elements of several datasets.)
//
// Shape:  zip_member: the name as in the archive, the file's bytes, and the offset of the file's data in the archive.
//         Stored and deflated files; folders and symbolic links are skipped. zip64, sizes after the data, and bytes
//         before the archive are supported. Bytes of stored files are views into the file's buffer.
// Order:  as in the archive's directory.
// Ends:   with the directory.
// Errors: those of the file, as in tfrecord. invalid_argument: a byte stream, which has no end to read the directory
//         from. data_loss, with file, offset and number of the file in the archive: the directory is missing, a
//         checksum or a length is wrong, or members overlap. unimplemented: encrypted files, other methods, archives in
//         several parts. resource_exhausted: a file has more than 2 GiB, or exceeds the limits; it is
//         dropped under error_policy::skip. After errors reading continues under that policy with the next file, if
//         the directory could be read.
// State:  index in the directory. A resume or a skip reads no bytes of skipped files.
// See:    op/tar.hpp
#pragma once

#include <cstdint>
#include <string>

#include "sluice/element/slice.hpp"
#include "sluice/engine/file_source.hpp"

namespace sluice::lib {

extern const op_info zip_members_op;

struct zip_member {
  std::string name;
  record bytes;
  std::int64_t offset = 0;
};

struct zip_members_options {
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< concurrent reads, if the bytes are not in memory already
  page_cache cache = page_cache::keep;          ///< whether the bytes read stay in the kernel's page cache
  size_limit inflated_bytes_max = {};           ///< limit of a deflated file's size; 0: up to 2 GiB
  ratio_limit inflate_ratio_max = {};  ///< limit as a multiple of the deflated bytes (beyond the first MiB)
};
struct zip_members_arguments {
  file_path path = {};
  zip_members_options options = {};
};

inline constexpr file_source<zip_member, zip_members_arguments> zip_members{zip_members_op};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::zip_member;
using lib::zip_members;
using lib::zip_members_options;

}  // namespace sluice
