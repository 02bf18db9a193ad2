// SPDX-License-Identifier: Apache-2.0
// What a stage itself holds for long: a shuffle's buffer, a batch in the making, an open compressed file, a list of names, the
// state of a function.
//
// It is charged without waiting, because the consumer waits for this stage. But what is held is not given back by waiting
// either: when all stages together hold more than the whole budget, the one that would take more says so instead of
// growing on.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sluice/runtime/ledger.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

class held_memory {
 public:
  /// `what` and `advice` are words of the error: "the buffer", "lower buffer_size". Literals.
  held_memory(std::shared_ptr<run_context> run, purpose p, std::string label, std::string_view what,
              std::string_view advice)
      : run_(std::move(run)),
        line_(run_->ledger->line(p, label)),
        label_(std::move(label)),
        what_(what),
        advice_(advice) {}
  held_memory(const held_memory&) = delete;
  ~held_memory() { charge(0); }

  /// What errors call the stage.
  const std::string& label() const { return label_; }
  std::size_t bytes() const { return bytes_; }
  std::size_t budget_bytes() const { return run_->ledger->budget_bytes(); }
  /// The error for something that can never fit into the budget.
  status refused() const { return refusal(~std::size_t{0}, what_); }
  /// As the error of resize(), with `what` in place of the constructor's text: "the states of 12 groups".
  status refused(std::string_view what) const { return refusal(bytes_, what); }
  /// As the error of resize(bytes), without charging them.
  status refused_of(std::size_t bytes) const { return refusal(bytes, what_); }
  /// Would resize(bytes) succeed?
  bool has_room_for(std::size_t bytes) const {
    const std::size_t held = run_->ledger->held_bytes(), budget = run_->ledger->budget_bytes();
    return bytes <= charged_ || (held <= budget && bytes - charged_ <= budget - held);
  }
  /// So much is held now. Errors: resource_exhausted, where it has become more; it is charged all the same.
  status resize(std::size_t bytes) {
    const bool more = bytes > bytes_;
    bytes_ = bytes;
    charge(bytes);
    return !more || fits() ? status() : refusal(bytes_, what_);
  }
  /// `more` bytes have come, and `fewer` of those before have gone. Up to kStep bytes more than are held are charged, so that
  /// not every element that comes or goes takes the ledger's lock.
  status change(std::size_t more, std::size_t fewer) {
    bytes_ += more - fewer;
    if (is_charged()) return {};
    charge(bytes_ ? bytes_ + kStep : 0);
    if (more <= fewer || fits()) return {};
    charge(bytes_);
    return fits() ? status() : refusal(bytes_, what_);
  }
  /// The same, for fewer.
  void shrink_by(std::size_t bytes) {
    bytes_ -= bytes;
    if (!is_charged()) charge(bytes_ ? bytes_ + kStep : 0);
  }

 private:
  static constexpr std::size_t kStep = 4096;

  bool fits() const { return run_->ledger->held_bytes() <= run_->ledger->budget_bytes(); }
  bool is_charged() const { return bytes_ != 0 && bytes_ <= charged_ && charged_ - bytes_ <= 2 * kStep; }
  void charge(std::size_t bytes) {
    std::size_t before = std::exchange(charged_, bytes);
    if (before == bytes) return;
    run_->ledger->change(before, bytes, line_, (before == 0) - (bytes == 0));
  }
  /// `wanted`: what this stage would hold.
  status refusal(std::size_t wanted, std::string_view what) const;

  std::shared_ptr<run_context> run_;
  ledger_line& line_;
  std::string label_;
  std::string_view what_, advice_;
  std::size_t bytes_ = 0;
  std::size_t charged_ = 0;  ///< of the ledger; not less
};

}  // namespace sluice::lib
