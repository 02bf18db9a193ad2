// SPDX-License-Identifier: Apache-2.0
// The memory of one open file that is charged to the ledger: its byte window, the compressed bytes after it, and the
// inflater.
//
// A byte window is charged without waiting, because the consumer may be waiting for it (runtime/ledger.hpp). All byte
// windows together may exceed the budget by 32 MiB. An inflater cannot be released before the end of its file, so it is
// held memory: a file whose inflater would exceed the budget is refused.
#pragma once

#include <memory>
#include <string>

#include "runtime/held_memory.hpp"
#include "runtime/sites/site_record.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

class input_memory {
 public:
  /// `site`: the record of the reading stage; `stage`: its name, for errors.
  input_memory(std::shared_ptr<run_context> run, site_record& site, const std::string& stage);

  /// Returns true if the budget is used up. The source then reads little, and releases the bytes that can be read
  /// again.
  bool is_tight() const { return !run_->ledger->within_budget(); }
  /// Returns the number of bytes to read at once while memory is tight. It is smaller if windows have little left of
  /// their overdraft beyond the budget, so that a thousand files have a window each.
  std::size_t tight_bytes() const;
  /// Allocates a charged buffer of at least `bytes`. Errors: resource_exhausted.
  status make_buffer(std::size_t bytes, buffer_ref& made);
  /// Allocates a buffer for bytes that no reader waits for yet. Returns false if more than half of the budget would be
  /// used. `spare`: a charged, unshared buffer, which is reused if it is about as large. Large buffers are not
  /// recycled, and a new one costs its page faults.
  bool make_buffer_ahead(std::size_t bytes, buffer_ref& made, buffer_ref spare);
  /// Populates the pages of a buffer while the read that will fill it waits for its first byte. The work is queued
  /// after all tasks that are ready now.
  void make_ready(const buffer_ref& room);
  /// Charges the file's inflater of `bytes` bytes from now on; 0: the file has no inflater any more. Errors:
  /// resource_exhausted.
  status hold_inflater(std::size_t bytes);
  void drop_inflater() { inflater_.shrink_by(inflater_.bytes()); }

 private:
  std::shared_ptr<run_context> run_;
  ledger_line& windows_;
  held_memory inflater_;
};

}  // namespace sluice::lib
