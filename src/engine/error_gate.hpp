// SPDX-License-Identifier: Apache-2.0
// What an error in one element does: the stage stops with it, or drops the element, counts the error and goes on.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sluice/base/status.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

/// Decides at the call that failed. The run must outlive it.
class error_gate {
 public:
  error_gate(run_context* run, std::string label) : run_(run), label_(std::move(label)) {}
  error_gate(const error_gate&) = default;

  /// Bad elements may be passed over, so outputs cannot be counted by inputs.
  bool skips() const { return run_->on_error == error_policy::skip; }
  /// Ok: go on with the next element. Else: end the stage with this. `element`: the input's ordinal, for the message.
  status settle(const status& why, std::uint64_t element = provenance::kUnknown) const;
  const std::string& label() const { return label_; }

 private:
  run_context* run_;
  std::string label_;
};

}  // namespace sluice::lib
