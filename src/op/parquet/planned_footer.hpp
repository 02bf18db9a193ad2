// SPDX-License-Identifier: Apache-2.0
// The footer of a Parquet file that is read when a plan is built.
// Thread: blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plan/member_comparison.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/base/result.hpp"
#include "sluice/io/parquet_files.hpp"
#include "sluice/plan/facts.hpp"

namespace sluice::lib {

/// The last bytes of a file that are read first: they have the footers of most files.
inline constexpr std::uint64_t kFooterGuessBytes = std::uint64_t{64} << 10;
/// A longer footer means that the file is damaged.
inline constexpr std::uint64_t kFooterBytesMax = std::uint64_t{1} << 30;

/// The rows that conditions exclude, for the conditions that were asked for last: an optimizer asks in each of its rounds,
/// also if no row is excluded, and the answer takes up to 16 MiB of the file's end. Thread: any.
class known_exclusions {
 public:
  /// Returns the result of the first call for these arguments, which calls find(); of two threads, both may call it.
  template <class Find>
  std::vector<element_run> of(bool are_structures, std::span<const member_comparison> comparisons, Find find) {
    {
      mutex_lock lock(mutex_);
      for (const entry& e : entries_)
        if (e.are_structures == are_structures && std::ranges::equal(e.comparisons, comparisons)) return e.runs;
    }
    std::vector<element_run> runs = find();
    mutex_lock lock(mutex_);
    if (entries_.size() == kKept) entries_.erase(entries_.begin());
    entries_.push_back({are_structures, {comparisons.begin(), comparisons.end()}, runs});
    return runs;
  }

 private:
  static constexpr std::size_t kKept = 8;
  struct entry {
    bool are_structures;  // the rows
    std::vector<member_comparison> comparisons;
    std::vector<element_run> runs;
  };
  mutex mutex_;
  std::vector<entry> entries_ ABSL_GUARDED_BY(mutex_);  // the oldest first
};

struct planned_footer {
  std::shared_ptr<const parquet_file> file;
  std::uint64_t rows = 0;
  std::uint64_t digest = 0;      ///< of the footer's bytes
  std::uint64_t size_bytes = 0;  ///< of the file
  std::uint64_t footer_bytes = 0;
  std::string version{};  ///< of a remote file; empty: unknown
  std::string tail{};     ///< the last bytes of the file, which end with the footer
  /// The rows that the footer and the page index exclude, for the conditions asked so far. All copies share them.
  std::shared_ptr<known_exclusions> exclusions = std::make_shared<known_exclusions>();
};

/// Returns the number of rows, unless it is too large. Errors: data_loss.
result<std::uint64_t> rows_of(const parquet_file& file);
std::uint64_t digest_of_footer(std::string_view footer);

/// Returns the last bytes of the file, at least `bytes`; none if they cannot be read, or the file has changed.
std::string read_same_tail(const std::string& path, std::uint64_t bytes, const planned_footer& known);

/// Errors: those of opening and reading the file, and of open_parquet(), with the path.
result<planned_footer> read_planned_footer(const std::string& path);

}  // namespace sluice::lib
