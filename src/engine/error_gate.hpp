// SPDX-License-Identifier: Apache-2.0
// Applies the error policy of a stage to a bad element: the stage ends with the error, or drops the element and
// continues. The policy is fixed when the stage is opened. Whether a limit is exceeded is decided where errors are
// counted, at the root of the run (coro/dropped_errors.hpp).
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
  /// `account`: the account that the stage's errors are counted in, besides the run's count; null: none.
  error_gate(run_context* run, std::string label, error_policy policy, error_account* account)
      : run_(run), label_(std::move(label)), account_(account), policy_(policy) {}
  error_gate(const error_gate&) = default;

  /// Returns true if bad elements are dropped, so that the stage may make fewer outputs than inputs.
  bool skips() const { return policy_ == error_policy::skip; }
  /// Returns true if the policy is skip and an element may be dropped because of `why`: a stop or a lack of memory is
  /// not an error of the element.
  bool may_drop(const status& why) const;
  /// The error with the stage's label and the ordinal of the input element, as it is reported.
  status told(const status& why, std::uint64_t element = provenance::kUnknown) const {
    return why.in_stage(label_, element);
  }
  /// The argument of outlet::drop for `times` dropped elements.
  dropped_error dropped(status told, std::uint64_t times = 1) const { return {std::move(told), times, account_}; }
  /// An awaiter that drops the element, or ends the stage with the error.
  outlet::error_awaiter settle(outlet& out, const status& why, std::uint64_t element = provenance::kUnknown) const;
  /// With more errors than this the run certainly ends at one of them.
  std::uint64_t errors_max() const;
  /// As run_context::errors_kept_apart.
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
