// SPDX-License-Identifier: Apache-2.0
// The memory that a stage itself retains for long: a shuffle's buffer, a batch under construction, an open compressed
// file, a list of names, the state of a function.
//
// The memory is charged without waiting, because the consumer waits for this stage. Waiting would not release it
// either. So when all stages together retain more than the whole budget, the stage that needs more reports an error and
// does not grow further.
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
  /// `line`: that of the stage (site_record::line), or one that holders without a stage share by name. `what` and
  /// `advice` are words of the error: "the buffer", "lower buffer_size". REQUIRES: both are literals; the run keeps the
  /// line.
  held_memory(std::shared_ptr<run_context> run, ledger_line& line, std::string label, std::string_view what,
              std::string_view advice)
      : run_(std::move(run)), line_(line), label_(std::move(label)), what_(what), advice_(advice) {}
  /// Takes over what `o` has charged.
  held_memory(held_memory&& o) noexcept
      : run_(std::move(o.run_)),
        line_(o.line_),
        label_(std::move(o.label_)),
        what_(o.what_),
        advice_(o.advice_),
        bytes_(std::exchange(o.bytes_, 0)),
        charged_(std::exchange(o.charged_, 0)) {}
  ~held_memory() { charge(0); }

  /// The name of the stage in errors.
  const std::string& label() const { return label_; }
  std::size_t bytes() const { return bytes_; }
  std::size_t budget_bytes() const { return run_->ledger->budget_bytes(); }
  /// Returns the error for something that can never fit into the budget.
  status refused() const { return refusal(~std::size_t{0}, what_); }
  /// Returns the error of resize(), with `what` in place of the constructor's text: "the states of 12 groups".
  status refused(std::string_view what) const { return refusal(bytes_, what); }
  /// Returns the error of resize(bytes), without charging the bytes.
  status refused_of(std::size_t bytes) const { return refusal(bytes, what_); }
  /// Returns true if resize(bytes) would succeed.
  bool has_room_for(std::size_t bytes) const {
    const std::size_t held = run_->ledger->held_bytes(), budget = run_->ledger->budget_bytes();
    return bytes <= charged_ || (held <= budget && bytes - charged_ <= budget - held);
  }
  /// Sets the number of retained bytes. Errors: resource_exhausted, if the number has grown and the budget is exceeded;
  /// the bytes are charged nevertheless.
  status resize(std::size_t bytes) {
    const bool more = bytes > bytes_;
    bytes_ = bytes;
    charge(bytes);
    return !more || fits() ? status() : refusal(bytes_, what_);
  }
  /// Adds `more` bytes and removes `fewer`. The charge exceeds the retained bytes by up to kStep, so that small changes
  /// need not take the ledger's lock.
  status change(std::size_t more, std::size_t fewer) {
    bytes_ += more - fewer;
    if (is_charged()) return {};
    charge(bytes_ ? bytes_ + kStep : 0);
    if (more <= fewer || fits()) return {};
    charge(bytes_);
    return fits() ? status() : refusal(bytes_, what_);
  }
  /// Removes `bytes`, like change(), but cannot fail.
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
  /// `wanted`: the number of bytes that this stage would retain.
  status refusal(std::size_t wanted, std::string_view what) const;

  std::shared_ptr<run_context> run_;
  ledger_line& line_;
  std::string label_;
  std::string_view what_, advice_;
  std::size_t bytes_ = 0;
  std::size_t charged_ = 0;  ///< charged to the ledger; not less than bytes_
};

}  // namespace sluice::lib
