// SPDX-License-Identifier: Apache-2.0
// What an error in one element does: the stage ends with it, or drops the element and goes on. Whether the run allows one
// more is decided where errors are counted, at the root of the run (coro/dropped_errors.hpp).
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

/// One stage's view of the run's error policy. The run must outlive it.
class error_gate {
 public:
  error_gate(run_context* run, std::string label) : run_(run), label_(std::move(label)) {}
  error_gate(const error_gate&) = default;

  /// Bad elements may be passed over, so outputs cannot be counted by inputs.
  bool skips() const { return run_->on_error == error_policy::skip; }
  /// May the element be dropped that failed with this? A stop, or a lack of memory, is no fault of an element.
  bool may_drop(const status& why) const;
  /// The error as the user is told of it. `element`: the input's ordinal.
  status told(const status& why, std::uint64_t element = provenance::kUnknown) const {
    return why.in_stage(label_, element);
  }
  /// For a stage: drops the element, or ends the stage.
  outlet::error_awaiter settle(outlet& out, const status& why, std::uint64_t element = provenance::kUnknown) const;
  /// More than that, and the run ends at one of them for certain.
  std::uint64_t errors_max() const { return run_->errors_max; }
  /// Of that many errors in a row somebody may want to know what each says.
  std::size_t kept_apart() const { return run_->errors_kept_apart(); }
  const std::string& label() const { return label_; }

 private:
  run_context* run_;
  std::string label_;
};

}  // namespace sluice::lib
