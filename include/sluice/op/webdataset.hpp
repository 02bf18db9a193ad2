// SPDX-License-Identifier: Apache-2.0
// webdataset: the samples of a tar archive in which files of one name belong together.
//
//   // train.tar: 000/17.jpg 000/17.cls 000/18.jpg 000/18.cls …
//   webdataset("train.tar") | map([](const webdataset_sample& s) { return std::string(s.at("cls").view()); })
//   list_files("train-*.tar") | interleave(webdataset, {.cycle_length = 4})
//
// In plan text a sample's members are key and parts.
//
// Shape:  webdataset_sample: consecutive files with the same key are one sample. The key is the path up to the first dot of the
//         file's name ("000/17"), and what follows the dot, in small letters, is the extension ("jpg", "seg.png"). Bytes are views into the file's
//         buffer. Files whose name has no dot, or begins with one, and what is no file, belong to no sample. Kinds of archives and files as in tar.
// Order:  as in the file, samples as well as parts.
// Ends:   as tar.
// Errors: as tar's. invalid_argument: two parts of a sample have the same extension. resource_exhausted: a sample of more than 2 GiB.
//         Under error_policy::skip a sample with damage in it is dropped; what follows the damage is read on, and may be the rest of that
//         sample.
// State:  byte offset and index of the next sample.
// See:    op/tar.hpp
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

  /// Null if there is none.
  const record* find(std::string_view extension) const noexcept;
  /// Errors: throws invalid_argument, with the key and what there is.
  const record& at(std::string_view extension) const;
};

struct webdataset_options {
  sluice::lib::compression compression = compression::automatic;
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< reads at the same time, if the bytes are not in memory already
  page_cache cache = page_cache::keep;          ///< of what the kernel has read
  size_limit inflated_bytes_max = {};           ///< of a compressed file: one byte more is an error; 0: any size
  ratio_limit inflate_ratio_max = {};  ///< the same, as a multiple of the compressed bytes (beyond the first MiB)
};
struct webdataset_arguments {
  file_path path = {};  ///< "-": standard input
  webdataset_options options = {};
};

inline constexpr file_source<webdataset_sample, webdataset_arguments> webdataset{webdataset_op};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::webdataset;
using lib::webdataset_options;
using lib::webdataset_part;
using lib::webdataset_sample;

}  // namespace sluice
