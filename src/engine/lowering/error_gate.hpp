// SPDX-License-Identifier: Apache-2.0
// Applies the error policy of a stage to a bad element: the stage ends with the error, or drops the element and
// continues. The policy is fixed when the stage is opened. Whether a limit is exceeded is decided where errors are
// counted, at the root of the run (coro/dropped_errors.hpp).
//
//   auto settled = gate.settle(out, why, in.consumed() - 1);   // all that was made before the element has been yielded
//   co_await settled;                                          // returns if the element is dropped
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/sites/site_record.hpp"
#include "sluice/base/status.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

using kept_bytes = std::shared_ptr<const std::string>;

/// One stage's error policy. The run must outlive it.
class error_gate {
 public:
  /// `site`: the record of the stage. `account`: the account that the stage's errors are counted in, besides the run's
  /// count; null: none. `into`: what keeps the bad elements that are dropped; null: nothing does. `file`: what the
  /// elements are of; null: none is known.
  error_gate(run_context* run, site_record& site, std::string label, error_policy policy, error_account* account,
             quarantine_sink* into = nullptr, std::shared_ptr<const std::string> file = nullptr)
      : run_(run),
        site_(&site),
        label_(std::move(label)),
        account_(account),
        into_(into),
        file_(std::move(file)),
        policy_(policy) {}
  error_gate(const error_gate&) = default;

  /// Returns true if bad elements are dropped, so that the stage may make fewer outputs than inputs.
  bool skips() const { return policy_ == error_policy::skip; }
  /// Returns true if the policy is skip and an element may be dropped because of `why`: a stop or a lack of memory is
  /// not an error of the element.
  bool may_drop(const status& why) const;
  /// The error with the stage's label, the ordinal of the input element and the file, as it is reported.
  status located(const status& why, std::uint64_t element = provenance::kUnknown) const;
  /// The argument of outlet::drop for `times` dropped elements. `bytes`: of the element, from kept().
  dropped_error dropped(status located, std::uint64_t times = 1, kept_bytes bytes = {}) const {
    return {std::move(located), times, account_, into_, std::move(bytes)};
  }
  /// An awaiter that drops the element, or ends the stage with the error.
  outlet::error_awaiter settle(outlet& out, const status& why, std::uint64_t element = provenance::kUnknown,
                               kept_bytes bytes = {}) const;
  /// Returns true if what is dropped is kept: the stage then says of what bytes a bad element is, if it has any.
  bool keeps() const { return into_ != nullptr; }
  quarantine_sink* into() const { return into_; }
  /// A copy of the first kKeptBytesMax bytes of a bad element, charged to the ledger until it is written. Null where the budget is
  /// used up, and where nothing is kept.
  kept_bytes kept(std::string_view bytes) const;
  static constexpr std::size_t kKeptBytesMax = std::size_t{1} << 20;
  /// With more errors than this the run certainly ends at one of them.
  std::uint64_t errors_max() const;
  /// The same as run_context::errors_kept_apart.
  std::size_t kept_apart() const { return run_->errors_kept_apart(); }
  const std::string& label() const { return label_; }
  site_record& site() const { return *site_; }
  /// The stage's line of the memory ledger for this purpose.
  ledger_line& line(purpose p) const { return site_->line(p); }
  error_account* account() const { return account_; }

 private:
  run_context* run_;
  site_record* site_;
  std::string label_;
  error_account* account_;
  quarantine_sink* into_;
  std::shared_ptr<const std::string> file_;
  error_policy policy_;
};

}  // namespace sluice::lib
