// SPDX-License-Identifier: Apache-2.0
// zip_members: the files in a zip archive.
//
//   zip_members("images.zip") | map([](const zip_member& m) { return m.name; })
//   list_files("train-*.zip") | interleave(zip_members, {.cycle_length = 4})
//
// In plan text its members are name, bytes and offset: `zip_members("images.zip") | map(bytes)`. (`zip` is another verb:
// elements of several datasets side by side.)
//
// Shape:  zip_member: the name in the archive as it stands there, the file's bytes, and the offset of what the archive has
//         for them. Stored and deflated files; folders and symbolic links are passed over. zip64, sizes behind the data, and
//         bytes in front of the archive. Bytes of stored files are views into the file's buffer.
// Order:  as in the archive's directory.
// Ends:   with the directory.
// Errors: of the file, as in tfrecord; invalid_argument: a byte stream, which has no end to read the directory from.
//         data_loss, with file, offset and number of the file in the archive: no directory, a checksum or a length that is
//         wrong, members that overlap. unimplemented: encrypted files, other methods, archives in several parts.
//         resource_exhausted: a file of more than 2 GiB, or above the limits; that ends a run under error_policy::skip, too.
//         Else reading goes on there with the next file, but without a directory there is none.
// State:  index in the directory. A resume, and what passes over elements, reads none of their bytes.
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
  knob_up_to<1024> reads_in_flight = autotune;  ///< reads at the same time, if the bytes are not in memory already
  page_cache cache = page_cache::keep;          ///< of what the kernel has read
  size_limit inflated_bytes_max = {};           ///< of a deflated file: one byte more is an error; 0: up to 2 GiB
  ratio_limit inflate_ratio_max = {};  ///< the same, as a multiple of the deflated bytes (beyond the first MiB)
};
struct zip_members_arguments {
  file_path path = {};
  zip_members_options options = {};
};

inline constexpr file_source<zip_member, zip_members_arguments> zip_members{zip_members_op};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::zip_member;
using lib::zip_members;
using lib::zip_members_options;

}  // namespace sluice
