// SPDX-License-Identifier: Apache-2.0
// The footer of a Parquet file that is read when a plan is built.
// Thread: blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sluice/base/result.hpp"
#include "sluice/io/parquet_files.hpp"

namespace sluice::lib {

/// The last bytes of a file that are read first: they have the footers of most files.
inline constexpr std::uint64_t kFooterGuessBytes = std::uint64_t{64} << 10;
/// A longer footer means that the file is damaged.
inline constexpr std::uint64_t kFooterBytesMax = std::uint64_t{1} << 30;

struct planned_footer {
  std::shared_ptr<const parquet_file> file;
  std::uint64_t rows = 0;
  std::uint64_t digest = 0;      ///< of the footer's bytes
  std::uint64_t size_bytes = 0;  ///< of the file
  std::uint64_t footer_bytes = 0;
  std::string version{};  ///< of a remote file; empty: unknown
  std::string tail{};     ///< the last bytes of the file, which end with the footer
};

/// Returns the number of rows, unless it is too large. Errors: data_loss.
result<std::uint64_t> rows_of(const parquet_file& file);
std::uint64_t digest_of_footer(std::string_view footer);

/// Returns the last bytes of the file, at least `bytes`; none if they cannot be read, or the file has changed.
std::string read_same_tail(const std::string& path, std::uint64_t bytes, const planned_footer& known);

/// Errors: those of opening and reading the file, and of open_parquet(), with the path.
result<planned_footer> read_planned_footer(const std::string& path);

}  // namespace sluice::lib
