// SPDX-License-Identifier: Apache-2.0
// The bytes of one Parquet file in a run: its footer, and the column chunks of one row group at a time.
// Errors: those of the file; data_loss: no Parquet file, or cut short; failed_precondition: the file differs from the one
//         that the checkpoint's run or the plan has read; resource_exhausted: a group does not fit into the budget.
// Thread: one caller at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "op/parquet/group_reader.hpp"
#include "op/parquet/planned_footer.hpp"
#include "runtime/held_memory.hpp"
#include "runtime/live_knob.hpp"
#include "runtime/sites/site_record.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/io/files.hpp"
#include "sluice/io/parquet_files.hpp"

namespace sluice::lib {

struct group_input_options {
  std::string path;
  std::size_t read_bytes = std::size_t{4} << 20;
  const live_knob* reads_in_flight = nullptr;
  std::int64_t reads_untouched = 0;  ///< the knob's value until it is set; the file may then choose
  page_cache cache = page_cache::keep;
  std::uint64_t epoch = 0;
  std::shared_ptr<const planned_footer> planned{};  ///< the footer when the plan was built; null: it was not read
};

class group_input {
 public:
  group_input(std::shared_ptr<run_context> run, site_record& site, const std::string& stage, group_input_options o);
  group_input(const group_input&) = delete;
  ~group_input();

  /// Opens the file, and reads its footer.
  task<void> open();
  const std::string& path() const { return o_.path; }
  const std::shared_ptr<const parquet_file>& footer() const { return footer_; }
  /// Returns true if each read takes a round trip to a server. REQUIRES: the file is open.
  bool is_remote() const { return file_->advice().first_bytes != 0; }
  /// Reads the column chunks of a group, several ranges at once, into a set of buffers. Those that the set has from an
  /// earlier group are used again: fresh pages would cost as much as decoding. Ends before the next call.
  /// `set`: its number, at most kGroupsAheadMax. REQUIRES: the parts of its earlier group are gone.
  task<std::vector<file_part>> read(std::size_t set, std::size_t group, const parquet_columns& columns);
  /// The bytes of the chunks; the largest number if the footer has no valid ranges of them.
  std::uint64_t chunk_bytes(std::size_t group, const parquet_columns& columns) const;
  /// Frees the buffers of the chunks, and those of all sets but one. REQUIRES: the parts are gone, and no read is in
  /// progress.
  void release_chunks() { release_chunks_except(sets_.size()); }
  void release_chunks_except(std::size_t set);

 private:
  /// The buffers of the ranges of one group.
  struct chunk_set {
    std::vector<buffer_ref> buffers{};
    std::size_t charged = 0;
  };
  task<std::string> read_footer();
  std::uint32_t reads_at_once(const read_advice& advice) const;
  status charge_ranges(chunk_set& set, const std::vector<file_range>& ranges);
  void free_set(chunk_set& set);
  task<buffer_ref> read_range(std::uint64_t offset, std::size_t bytes);

  const std::shared_ptr<run_context> run_;
  site_record& site_;
  const group_input_options o_;
  held_memory memory_;
  std::shared_ptr<file> file_;
  bool is_noted_ = false;
  std::size_t footer_bytes_ = 0;
  std::shared_ptr<const parquet_file> footer_;
  std::array<chunk_set, kGroupsAheadMax + 1> sets_;
};

}  // namespace sluice::lib
