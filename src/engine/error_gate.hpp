// SPDX-License-Identifier: Apache-2.0
// What an error in one element does: the stage ends with it, or drops the element and goes on. Which of both is fixed when
// the stage is opened. Whether the run, and the stage's own limit, allow one more is decided where errors are counted, at
// the root of the run (coro/dropped_errors.hpp).
//
//   auto settled = gate.settle(out, why, in.consumed() - 1);   // all that was made before the element has been yielded
//   co_await settled;                                          // returns if the element is dropped
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sluice/base/status.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

/// One stage's error policy. The run must outlive it.
class error_gate {
 public:
  /// `account`: what the stage's errors are counted for; null: for the run only.
  error_gate(run_context* run, std::string label, error_policy policy, error_account* account)
      : run_(run), label_(std::move(label)), account_(account), policy_(policy) {}
  error_gate(const error_gate&) = default;

  /// Bad elements may be passed over, so outputs cannot be counted by inputs.
  bool skips() const { return policy_ == error_policy::skip; }
  /// May the element be dropped that failed with this? A stop, or a lack of memory, is no fault of an element.
  bool may_drop(const status& why) const;
  /// The error as the user is told of it. `element`: the input's ordinal.
  status told(const status& why, std::uint64_t element = provenance::kUnknown) const {
    return why.in_stage(label_, element);
  }
  /// `times` elements that are passed over, for outlet::drop.
  dropped_error dropped(status told, std::uint64_t times = 1) const { return {std::move(told), times, account_}; }
  /// For a stage: drops the element, or ends the stage.
  outlet::error_awaiter settle(outlet& out, const status& why, std::uint64_t element = provenance::kUnknown) const;
  /// More than that, and the run ends at one of them for certain.
  std::uint64_t errors_max() const;
  /// Of that many errors in a row somebody may want to know what each says.
  std::size_t kept_apart() const { return run_->errors_kept_apart(); }
  const std::string& label() const { return label_; }
  error_account* account() const { return account_; }

 private:
  run_context* run_;
  std::string label_;
  error_account* account_;
  error_policy policy_;
};

}  // namespace sluice::lib
