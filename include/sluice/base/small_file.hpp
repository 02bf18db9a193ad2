// SPDX-License-Identifier: Apache-2.0
// Reads a small file as a whole: a vocabulary, a list of labels, a checkpoint.
//
//   result<std::string> words = read_small_file("vocabulary.txt");
//
// Errors: not_found, permission_denied …, from the file system; invalid_argument: a directory; out_of_range: it is
//         longer than `bytes_max`, or endless (a device). All contain the path.
// Thread: any; it blocks the calling thread. Within a pipeline, or in a simulation, use the file seam
//         (sluice/io/file_system.hpp).
#pragma once

#include <cstddef>
#include <string>

#include "sluice/base/result.hpp"

namespace sluice::lib {

result<std::string> read_small_file(const std::string& path, std::size_t bytes_max = std::size_t{64} << 20);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::read_small_file;

}  // namespace sluice
