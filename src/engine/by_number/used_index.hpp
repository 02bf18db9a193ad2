// SPDX-License-Identifier: Apache-2.0
// The index of the file that a stage reads, from its first skip of many elements on.
//
//   used_index index(run, source, format, file_index::automatic, gate);
//   auto opening = index.open_required();                     // only for file_index::required
//   …
//   if (n >= used_index::kSkipMin && index.is_wanted()) {
//     auto finding = index.place_before(at, n);               // reads the index once
//     index_place p = co_await finding;                       // of an element in (at, at + n]; none: offset 0
//   }
//
// The index is read when a skip would gain by it, so a run that reads everything neither looks for it nor pays for it.
// An index that does not belong to the file, or is damaged, is not used; the report of the run has a warning.
// Errors: with file_index::required: failed_precondition, if the file has no valid index.
// Owns:   the places, charged to the ledger.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/files/file_stage.hpp"
#include "input/byte_source.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/base/index_types.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/format/record_index.hpp"

namespace sluice::lib {

class used_index {
 public:
  /// A shorter skip costs less than reading the index.
  static constexpr std::uint64_t kSkipMin = 512;

  /// A resume at a smaller offset of a compressed file costs less than reading the index.
  static constexpr std::uint64_t kInflatedMin = std::uint64_t{1} << 20;

  /// REQUIRES: the source is open, the format has an index (index_kind()), and `use` is not `none`.
  used_index(std::shared_ptr<run_context> run, byte_source& source, const element_format& format, file_index use,
             const error_gate& gate);

  task<void> open_required();
  /// Returns true if the index may still be read, or has been read and is valid.
  bool is_wanted() const { return is_wanted_; }
  /// Reads the index, unless it was read, or is known not to be valid: the source of a compressed file then seeks by it.
  task<void> read_once();
  /// Returns true if the file has a valid index. One that is not valid is no reason for a warning: it will be replaced.
  task<bool> find();
  /// Returns the last place of an element from number at + 1 to at + skipped. The offset is 0 if none of them has a place.
  task<index_place> place_before(std::uint64_t at, std::uint64_t skipped);
  /// Returns an error if the index was used, and the file has another number of elements.
  status check_end(std::uint64_t elements) const;
  /// Reports that no element begins at a place: the index is damaged in spite of its checksum.
  status wrong_place(const index_place& p) const;

 private:
  /// Reads the index, and stores it if it is valid. Returns why it is not used; ok if it does not exist.
  task<status> read();
  std::string path() const { return source_.path() + std::string(kIndexSuffix); }

  std::shared_ptr<run_context> run_;
  byte_source& source_;
  std::string kind_;
  bool is_required_;
  bool is_wanted_ = true;
  held_memory memory_;
  std::optional<record_index> index_;
};

}  // namespace sluice::lib
