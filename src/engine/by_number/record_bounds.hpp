// SPDX-License-Identifier: Apache-2.0
// The table of offsets by which a file finds its records: an integer of 4 or 8 bytes for each, little-endian, which is the
// end of the record (Bagz) or its beginning, with the end of the last one behind (MDS). A part of it is in memory.
//
//   if (!bounds.has(i)) { auto filling = bounds.fill(in, i, n); co_await filling; }
//   bounds.take(wish, path, run);                              // places of records from number i on
//
// Errors: of take(): data_loss, as the error of the run: a record ends before it begins, or behind the records.
// Thread: one caller at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/by_number/record_stage.hpp"

namespace sluice::lib {

struct record_table {
  std::uint64_t offset = 0;  ///< of the table in its file
  std::uint32_t width = 8;   ///< of one integer
  std::uint64_t records = 0;
  bool has_begins = false;    ///< the table has the beginning of the first record: one integer more
  std::uint64_t lowest = 0;   ///< where records may begin; the first one does without `has_begins`
  std::uint64_t highest = 0;  ///< where they may end
};

class record_bounds {
 public:
  void reset(const record_table& table) {
    table_ = table;
    window_.clear();
  }
  /// Sets all bounds from a table that is in memory.
  void set(const record_table& table, std::string_view integers);
  const record_table& table() const { return table_; }
  bool has(std::uint64_t record) const { return record >= first_ && record - first_ + 1 < window_.size(); }
  /// Reads the bounds of up to n records from this one on.
  task<void> fill(placed_input& from, std::uint64_t record, std::uint64_t n);
  /// Lists places of records from wish.from on, up to about wish.bytes and to the end of what is in memory. The places
  /// begin at the first of them. REQUIRES: has(wish.from).
  void take(const record_wish& wish, const std::string& path, record_run& to) const;

 private:
  void append(const char* integers, std::size_t n);

  record_table table_;
  std::vector<std::uint64_t> window_;  ///< the bounds of records from first_ on: one more than records
  std::uint64_t first_ = 0;
};

/// Reads the bytes of the places of a run, which follow one another.
task<void> read_run(placed_input& in, placed_input::read_place where, record_run& to);

}  // namespace sluice::lib
