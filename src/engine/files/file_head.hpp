// SPDX-License-Identifier: Apache-2.0
// The first bytes of a file, inflated: of which a plan's element type is made where nothing else says it.
// Thread: blocks, as plans are made; never in a run.
#pragma once

#include <cstddef>
#include <string>

#include "sluice/base/field_types.hpp"
#include "sluice/base/result.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib {

struct file_head {
  std::string bytes{};
  bool is_all = false;  ///< the file has no more
  status cut{};         ///< of a compressed file: why nothing behind `bytes` can be read, with its name
};

/// Errors: of the file, with its name; `cut`'s error if no bytes come before it.
result<file_head> read_file_head(const std::string& path, compression packed, std::size_t bytes_max,
                                 inflate_limits limits = {});

}  // namespace sluice::lib
