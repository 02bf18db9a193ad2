// SPDX-License-Identifier: Apache-2.0
// Detects what a file holds: by its first bytes, by its last bytes where a format needs them, and by its name. All
// verbs that read files use this one detection.
//
//   1. The content of a format that sluice reads or knows decides: TFRecords, Arrow, npy, tar, zip; Parquet, PDF …
//   2. Otherwise the name's suffix decides, so that a damaged a.tfrecord is read as TFRecords and its damage reported.
//   3. Otherwise a text in UTF-8 is read as what it holds (text_kind.hpp): JSON lines, CSV or lines of text. Every
//   other
//      file is refused.
//
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sluice/base/result.hpp"

namespace sluice::lib::cli {

/// The number of first bytes, after decompression, that the detection examines, and of last bytes.
inline constexpr std::size_t kKindHeadBytes = 4096, kKindTailBytes = 16;

/// The known parts of a file.
struct file_sample {
  std::string_view name{};  ///< the path without a URL's query
  std::string_view head{};  ///< the first bytes, decompressed
  std::string_view tail{};  ///< the last bytes; empty if they are not known
  bool is_all = false;      ///< `head` is the whole file
  bool is_packed = false;   ///< the file is compressed
};

/// Returns the format of the reader, as --from names it. Errors: unimplemented: the file is in a known format that no
/// reader of sluice reads; the message names the format, and the plan or the program that reads it. invalid_argument:
/// the format is unknown. The messages continue the file's name: "is a Parquet file, …".
result<std::string_view> kind_of(const file_sample& file);

/// Returns the format of the reader that the name shows; empty if it shows none.
std::string_view kind_of_name(std::string_view name);

}  // namespace sluice::lib::cli
