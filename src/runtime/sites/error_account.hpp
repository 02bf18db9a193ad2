// SPDX-License-Identifier: Apache-2.0
// How many bad elements one stage of a run has dropped, and how many it may.
//
//   error_account* a = run->sites->account(record, 100, nullptr);     // when the stage is opened
//   out.drop(dropped_error{why, 1, a});                                // the error walks to the run, and counts there
//
// A stage that drops bad elements has one in its site record, which all its streams in the run share, those of inner plans
// and epochs too. An account may stand within another one, whose limit then holds for both: those of all stages that an
// ignore_errors decides for stand within its account.
// Thread: fixed when it is made, but for the counts, which run_context::met alone writes, under its lock, in the order in
// which errors stand among the elements. So a limit ends a run at the same element whatever works ahead
// (coro/dropped_errors.hpp).
// A null account means that no stage's limit applies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace sluice::lib {

struct error_account {
  static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

  std::string_view stage = {};  ///< whose limit it is: "map(parse)", "ignore_errors"
  std::uint64_t errors_max = kNoLimit;
  error_account* around = nullptr;  ///< null: the run itself
  std::uint64_t own = 0;            ///< counted for this one
  std::uint64_t counted = 0;        ///< and for those within it, too

  bool has_limit() const { return errors_max != kNoLimit; }
  std::uint64_t left() const { return errors_max - counted; }
};

/// Returns how many more errors may be counted for `a` until it reaches one of its limits.
inline std::uint64_t errors_left(const error_account* a) {
  std::uint64_t least = error_account::kNoLimit;
  for (; a; a = a->around) least = std::min(least, a->left());
  return least;
}

/// The first of `a` and those around it for which none more may be counted; null: each of them may have more.
inline const error_account* full_account(const error_account* a) {
  while (a && a->left() != 0) a = a->around;
  return a;
}

/// The most that the limits of `a` and of those around it allow in all.
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
