// SPDX-License-Identifier: Apache-2.0
// Applies the error policy of a stage to a bad element: the stage ends with the error, or drops the element and
// continues. The policy is fixed when the stage is opened. The root of the run counts errors and decides whether a
// limit is exceeded (coro/dropped_errors.hpp).
//
//   auto settled = gate.settle(out, why, in.consumed() - 1);   // after all elements before the bad one were yielded
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
/// Returns a copy of the bytes of a bad element, charged to `line` as long as it exists; null if the budget is used up.
kept_bytes kept_copy(std::string_view bytes, memory_ledger& ledger, ledger_line& line);

/// The file that the elements of a stage's input come from.
struct element_origin {
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  std::shared_ptr<const std::string> file = {};  ///< null: unknown, or several files
  /// The element with ordinal k is the line at index first_line + k of the file. kUnknown: elements are no lines, or the
  /// number of those left out is unknown.
  std::uint64_t first_line = kUnknown;
};

/// One stage's error policy. The run must outlive it.
class error_gate {
 public:
  /// `site`: the record of the stage. `account`: counts the stage's errors, besides the run; null: only the run counts
  /// them. `into`: stores the bad elements that are dropped; null: they are not stored. `origin`: of the stage's input.
  error_gate(run_context* run, site_record& site, std::shared_ptr<const std::string> label, error_policy policy,
             error_account* account, quarantine_sink* into = nullptr, element_origin origin = {})
      : run_(run),
        site_(&site),
        label_(std::move(label)),
        account_(account),
        into_(into),
        origin_(std::move(origin)),
        policy_(policy) {}
  error_gate(const error_gate&) = default;

  /// Returns true if bad elements are dropped, so that the stage may make fewer outputs than inputs.
  bool skips() const { return policy_ == error_policy::skip; }
  /// Returns true if the policy allows to drop an element because of `why`. A stop or a lack of memory is not an error
  /// of the element, so it never drops one.
  bool may_drop(const status& why) const;
  /// Returns the error with the stage's label, the ordinal of the input element, the file and the line, as it is reported.
  status located(const status& why, std::uint64_t element = provenance::kUnknown) const;
  /// Returns the argument of outlet::drop for `times` dropped elements. `bytes`: the element's bytes, from kept().
  dropped_error dropped(status located, std::uint64_t times = 1, kept_bytes bytes = {}) const {
    return {std::move(located), times, account_, into_, std::move(bytes)};
  }
  /// Returns an awaiter that drops the element, or ends the stage with the error.
  outlet::error_awaiter settle(outlet& out, const status& why, std::uint64_t element = provenance::kUnknown,
                               kept_bytes bytes = {}) const;
  /// Returns true if dropped elements are stored. The stage then passes the bytes of a bad element, if it has them.
  bool keeps() const { return into_ != nullptr; }
  quarantine_sink* into() const { return into_; }
  /// Returns a copy of the first kKeptBytesMax bytes of a bad element, charged to the ledger until it is written.
  /// Returns null if the budget is used up, or if dropped elements are not stored.
  kept_bytes kept(std::string_view bytes) const;
  static constexpr std::size_t kKeptBytesMax = std::size_t{1} << 20;
  /// Returns the largest number of errors that may not end the run: with more errors the run certainly ends at one of
  /// them.
  std::uint64_t errors_max() const;
  /// Returns run_context::errors_kept_apart().
  std::size_t kept_apart() const { return run_->errors_kept_apart(); }
  const std::string& label() const { return *label_; }
  site_record& site() const { return *site_; }
  /// The stage's line of the memory ledger for this purpose.
  ledger_line& line(purpose p) const { return site_->line(p); }
  error_account* account() const { return account_; }

 private:
  status with_origin(const status& why, std::uint64_t element) const;

  run_context* run_;
  site_record* site_;
  std::shared_ptr<const std::string> label_;  // usually the name of the site, without a count of references
  error_account* account_;
  quarantine_sink* into_;
  element_origin origin_;
  error_policy policy_;
};

}  // namespace sluice::lib
