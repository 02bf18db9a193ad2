// SPDX-License-Identifier: Apache-2.0
// tar: the files in a tar archive.
//
//   tar("images.tar") | map([](const tar_member& m) { return m.name; })
//   list_files("train-*.tar") | interleave(tar, {.cycle_length = 4})
//
// In plan text the members are name, bytes and offset: `tar("images.tar") | map(bytes)`.
//
// Shape:  tar_member: the name in the archive, the bytes as a view into the file's buffer, and the offset of the bytes
//         in the (decompressed) archive. Only regular files: directories, links and devices are skipped. The formats
//         ustar, pax, GNU and the old one; plain and compressed files and byte streams, as in tfrecord.
// Order:  as in the file.
// Ends:   with two blocks of zeros, or with the file; other bytes after the zeros are an error.
// Errors: those of the file, as in tfrecord. data_loss, with file, offset and number of the file in the archive: a
//         header's checksum or numbers are wrong, or the archive ends inside a file. unimplemented: sparse files.
//         resource_exhausted: a file has more than 2 GiB, an extended header 1 MiB. Under error_policy::skip reading
//         continues after the file if its length is known, otherwise at the next valid header. A tar has no checksums
//         of contents, so damage there is not noticed.
// State:  byte offset and index of the next file. Skipped files are not read if the size of the archive is known; with
//         an index of the archive (`sluice index`) neither are their headers. index=required: as in tfrecord.
// See:    op/webdataset.hpp, for files that belong together
#pragma once

#include <cstdint>
#include <string>

#include "sluice/base/index_types.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/engine/file_source.hpp"

namespace sluice::lib {

extern const op_info tar_op;

struct tar_member {
  std::string name;
  record bytes;
  std::int64_t offset = 0;
};

struct tar_options {
  sluice::lib::compression compression = compression::automatic;
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< concurrent reads, if the bytes are not in memory already
  page_cache cache = page_cache::keep;          ///< whether the bytes read stay in the kernel's page cache
  size_limit inflated_bytes_max = {};           ///< limit of a compressed file's inflated size; 0: no limit
  ratio_limit inflate_ratio_max = {};           ///< limit as a multiple of the compressed bytes (beyond the first MiB)
  /// The use of the file's index, by which a skip finds its element without reading those before (`sluice index FILE`).
  file_index index = file_index::automatic;
};
struct tar_arguments {
  file_path path = {};  ///< "-": standard input
  tar_options options = {};
};

inline constexpr file_source<tar_member, tar_arguments> tar{tar_op};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::tar;
using lib::tar_member;
using lib::tar_options;

}  // namespace sluice
