// SPDX-License-Identifier: Apache-2.0
// The memory of one open file that is charged to the ledger: its byte window, the compressed bytes behind it, and the
// inflater.
//
// A byte window is charged without waiting, because the consumer may be waiting for it (runtime/ledger.hpp). All byte
// windows together may exceed the budget by 32 MiB. An inflater cannot be released before the end of its file, so it is
// held memory: a file whose inflater would exceed the budget is refused.
#pragma once

#include <memory>
#include <string>

#include "runtime/held_memory.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

class input_memory {
 public:
  /// `stage`: who reads, for reports.
  input_memory(std::shared_ptr<run_context> run, const std::string& stage);

  /// The budget is used up: read little, and give back what can be read again.
  bool is_tight() const { return !run_->ledger->within_budget(); }
  /// While it is tight: the bytes to read at once. Fewer where little is left of what windows may take beyond the budget, so
  /// that a thousand files have a window each.
  std::size_t tight_bytes() const;
  /// A buffer of at least `bytes`, charged. Errors: resource_exhausted.
  status make_buffer(std::size_t bytes, buffer_ref& made);
  /// The same for bytes that nobody waits for yet. False: at most half of the budget is for such.
  /// `spare`: a charged buffer that nobody else has: it will do, if it is about as large. Large buffers are not recycled, and a
  /// new one costs its page faults.
  bool make_buffer_ahead(std::size_t bytes, buffer_ref& made, buffer_ref spare);
  /// The pages of a buffer that a read will fill come while that read waits for its first byte: behind all that is ready now.
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
