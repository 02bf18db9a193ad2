// SPDX-License-Identifier: Apache-2.0
// The argument `index` of readers of files (format/record_index.hpp).
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::lib {

/// The suffix of an index, after the name of its file. Patterns match such names only if they contain the suffix.
inline constexpr std::string_view kIndexSuffix = ".sluice-index";

/// The use of the index FILE.sluice-index. It changes the cost of skipping elements, but no elements, and is not part of
/// fingerprints.
enum class file_index : std::uint8_t {
  automatic,  ///< used if it exists and belongs to the file; otherwise elements are skipped one by one, with a warning
              ///< if it exists
  none,       ///< never looked for
  /// A file without a valid index is an error. The number of elements is then known before the run, and the reader gives
  /// any element without those before it: at(i), global_shuffle.
  required,
  /// As `automatic`; and a run that reads a file from its beginning to its end, without losing elements, writes the index if
  /// no valid one exists. A run that cannot write it warns.
  build,
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::file_index;
using lib::kIndexSuffix;

}  // namespace sluice
