// SPDX-License-Identifier: Apache-2.0
// The suffix of a compression in a file's name. Thread: pure functions.
#pragma once

#include <string_view>

#include "sluice/base/status.hpp"

namespace sluice::lib {

/// Returns the suffix of a compression in a path or URL: ".gz" for "a.csv.gz", ".tgz" for "a.tgz"; empty if it has none.
std::string_view compression_suffix(std::string_view path);

/// The answer for a file whose name has such a suffix, and whose bytes are in no compression that is recognized: it is
/// damaged, since reading them as they are would yield wrong elements. OK for other names. `first`: the first bytes, as
/// for detect_compression(). Error: data_loss, with `path` and byte 0.
status check_compression_suffix(std::string_view first, std::string_view path);

}  // namespace sluice::lib
