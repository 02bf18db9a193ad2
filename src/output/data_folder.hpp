// SPDX-License-Identifier: Apache-2.0
// The manifest of a data folder: an output whose path ends with a slash. It states what the files of the folder contain,
// so that load() reads them without the name of a format or a schema.
//
//   out/sluice.manifest                   // one line of JSON, and its checksum
//   out/part-00000-of-00002.arrow …
//
// Before the first file of a run takes its name, the manifest states that the output is partial. It states that the
// output is complete after the last one has its name. A folder is therefore read as the whole output of one run or not at
// all.
// Errors: not_found: the folder has no manifest. data_loss: the manifest is damaged. failed_precondition: it was written
//         by another version. All contain the path.
// Thread: any; it blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/result.hpp"

namespace sluice::lib {

struct data_folder {
  struct file {
    std::string name;  ///< without the folder
    std::uint64_t bytes = 0;
  };

  bool is_complete = false;
  std::string format;       ///< to_string(output_format)
  std::string compression;  ///< of the files: none, gzip, zstd
  std::string type;         ///< type_text() of the elements
  std::uint64_t elements = 0;
  bool alternates = false;  ///< element i is in file i mod n; otherwise the files follow one after another
  std::vector<file> files;
  std::string origin = {};  ///< of a snapshot: what its elements depend on, in hexadecimal digits
};

inline constexpr std::string_view kManifestName = "sluice.manifest";

/// Returns true for a path that names a folder as an output: one that ends with a slash.
bool names_data_folder(std::string_view path);
std::string manifest_text(const data_folder& d);
/// Errors: data_loss, failed_precondition.
result<data_folder> read_manifest_text(std::string_view text);
/// `folder`: with or without a slash at the end.
/// `text`: if not null, receives the manifest.
result<data_folder> read_data_folder(const std::string& folder, std::string* text = nullptr);
/// Replaces the manifest: after a crash the folder has the old one or the new one.
status write_manifest(const std::string& folder, const data_folder& d);

}  // namespace sluice::lib
