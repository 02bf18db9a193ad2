// SPDX-License-Identifier: Apache-2.0
// What a stage itself holds for long: a shuffle's buffer, a batch in the making.
//
// It is charged without waiting, because the consumer waits for this stage; but a stage that alone holds more than the
// whole budget can never fit, and says so instead of growing on.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "op/open_context.hpp"
#include "sluice/runtime/ledger.hpp"

namespace sluice::lib {

class held_memory {
 public:
  /// `what` and `advice` are words of the error: "the buffer", "lower buffer_size". Literals.
  held_memory(std::shared_ptr<run_context> run, purpose p, std::string label, std::string_view what,
              std::string_view advice)
      : run_(std::move(run)), purpose_(p), label_(std::move(label)), what_(what), advice_(advice) {}
  held_memory(const held_memory&) = delete;
  ~held_memory() { run_->ledger->release(bytes_, purpose_); }

  std::size_t bytes() const { return bytes_; }
  std::size_t budget_bytes() const { return run_->ledger->budget_bytes(); }
  /// The error of wanting to hold more than the budget.
  status refused() const { return refusal(budget_bytes()); }
  /// So much is held now. Errors: resource_exhausted; it is charged all the same.
  status resize(std::size_t bytes) {
    if (bytes > bytes_) run_->ledger->charge(bytes - bytes_, purpose_);
    else if (bytes < bytes_) run_->ledger->release(bytes_ - bytes, purpose_);
    bytes_ = bytes;
    std::size_t budget = run_->ledger->budget_bytes();
    return bytes <= budget ? status() : refusal(budget);
  }
  void shrink_by(std::size_t bytes) {
    run_->ledger->release(bytes, purpose_);
    bytes_ -= bytes;
  }

 private:
  status refusal(std::size_t budget) const;

  std::shared_ptr<run_context> run_;
  purpose purpose_;
  std::string label_;
  std::string_view what_, advice_;
  std::size_t bytes_ = 0;
};

}  // namespace sluice::lib
