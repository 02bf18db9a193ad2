// SPDX-License-Identifier: Apache-2.0
// webdataset: the samples of a tar archive; files with the same name and different extensions form a sample.
//
//   // train.tar: 000/17.jpg 000/17.cls 000/18.jpg 000/18.cls …
//   webdataset("train.tar") | map([](const webdataset_sample& s) { return std::string(s.at("cls").view()); })
//   list_files("train-*.tar") | interleave(webdataset, {.cycle_length = 4})
//
// In plan text a sample's members are key and parts.
//
// Shape:  webdataset_sample: consecutive files with the same key form one sample. The key is the path up to the first
//         dot of the file's name ("000/17"). The part after the dot, in small letters, is the extension ("jpg",
//         "seg.png"). Bytes are views into the file's buffer. Files whose name has no dot, or begins with one, and
//         entries that are not files, belong to no sample. The kinds of archives and files are those of tar.
// Order:  as in the file, for samples and for parts.
// Ends:   as for tar.
// Errors: those of tar. invalid_argument: two parts of a sample have the same extension. resource_exhausted: a sample
//         has more than 2 GiB. Under error_policy::skip a damaged sample is dropped. Reading continues after the
//         damage, and may deliver the rest of the same sample.
// State:  byte offset and index of the next sample.
// See:    op/tar.hpp
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/index_types.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/engine/file_source.hpp"

namespace sluice::lib {

extern const op_info webdataset_op;

struct webdataset_part {
  std::string extension;
  record bytes;
};

struct webdataset_sample {
  std::string key;
  std::vector<webdataset_part> parts;

  /// Returns null if no part has this extension.
  const record* find(std::string_view extension) const noexcept;
  /// Errors: throws invalid_argument, with the key and the extensions that exist.
  const record& at(std::string_view extension) const;
};

struct webdataset_options {
  sluice::lib::compression compression = compression::automatic;
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< concurrent reads, if the bytes are not in memory already
  page_cache cache = page_cache::keep;          ///< whether the bytes read stay in the kernel's page cache
  size_limit inflated_bytes_max = {};           ///< limit of a compressed file's inflated size; 0: no limit
  ratio_limit inflate_ratio_max = {};           ///< limit as a multiple of the compressed bytes (beyond the first MiB)
  /// The use of the file's index, by which a skip finds its element without reading those before (`sluice index FILE`).
  file_index index = file_index::automatic;
};
struct webdataset_arguments {
  file_path path = {};  ///< "-": standard input
  webdataset_options options = {};
};

inline constexpr file_source<webdataset_sample, webdataset_arguments> webdataset{webdataset_op};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::webdataset;
using lib::webdataset_options;
using lib::webdataset_part;
using lib::webdataset_sample;

}  // namespace sluice
