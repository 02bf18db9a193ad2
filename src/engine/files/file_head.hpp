// SPDX-License-Identifier: Apache-2.0
// Reads the first bytes of a file, decompressed. A plan derives its element type from them if nothing else declares it.
// Thread: blocks. It is called while a plan is built, never in a run.
#pragma once

#include <cstddef>
#include <string>

#include "sluice/base/field_types.hpp"
#include "sluice/base/result.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib {

struct file_head {
  std::string bytes{};
  bool is_all = false;  ///< `bytes` is the whole file
  status cut{};         ///< for a compressed file: why nothing after `bytes` can be read, with the file's name
};

/// Errors: the file's, with its name; the error in `cut` if no byte precedes it.
result<file_head> read_file_head(const std::string& path, compression packed, std::size_t bytes_max,
                                 inflate_limits limits = {});

}  // namespace sluice::lib
