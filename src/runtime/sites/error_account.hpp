// SPDX-License-Identifier: Apache-2.0
// The number of bad elements that one stage of a run has dropped, and its limit.
//
//   error_account* a = run->sites->account(record, 100, nullptr);     // when the stage is opened
//   out.drop(dropped_error{why, 1, a});                                // the error walks to the run, and counts there
//
// A stage that drops bad elements has an account in its site record. All streams of the stage in the run share it, also
// those of inner plans and epochs. An account may be within another account, whose limit then applies to both: the
// accounts of all stages below an ignore_errors are within its account.
// Thread: an account does not change after its construction, except for the counts. Only run_context::met changes
//         these, under its lock, in the order of the errors among the elements. So a limit ends a run at the same
//         element no matter which channels work ahead (coro/dropped_errors.hpp).
// A null account means that no stage's limit applies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace sluice::lib {

struct error_account {
  static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

  std::string_view stage = {};  ///< the stage that sets the limit: "map(parse)", "ignore_errors"
  std::uint64_t errors_max = kNoLimit;
  error_account* around = nullptr;  ///< the enclosing account; null: the run itself
  std::uint64_t own = 0;            ///< errors of this account
  std::uint64_t counted = 0;        ///< errors of this account and of those within it

  bool has_limit() const { return errors_max != kNoLimit; }
  std::uint64_t left() const { return errors_max - counted; }
};

/// Returns how many more errors may be counted for `a` until it reaches one of its limits.
inline std::uint64_t errors_left(const error_account* a) {
  std::uint64_t least = error_account::kNoLimit;
  for (; a; a = a->around) least = std::min(least, a->left());
  return least;
}

/// Returns the first account among `a` and those around it whose limit is reached; null if all permit more errors.
inline const error_account* full_account(const error_account* a) {
  while (a && a->left() != 0) a = a->around;
  return a;
}

/// Returns the total that the limits of `a` and of the accounts around it permit.
inline std::uint64_t errors_allowed(const error_account* a) {
  std::uint64_t least = error_account::kNoLimit;
  for (; a; a = a->around) least = std::min(least, a->errors_max);
  return least;
}

inline void count_errors(error_account* a, std::uint64_t n) {
  if (a) a->own += n;
  for (; a; a = a->around) a->counted += n;
}

}  // namespace sluice::lib
