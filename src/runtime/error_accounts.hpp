// SPDX-License-Identifier: Apache-2.0
// How many bad elements each stage of a run has passed over, and how many it may.
//
//   error_account* a = run->accounts->of(key, "map(parse)", 100, nullptr);      // when the stage is opened
//   out.drop(dropped_error{why, 1, a});                                         // the error walks to the run, and counts there
//
// One account for each stage of a plan that passes over bad elements; the streams that an interleave opens of one inner plan
// share those of its stages. An account may stand within another one, whose limit then holds for both: those of all stages
// that an ignore_errors decides for stand within its account.
// Thread: of() from any; accounts are counted by run_context::met alone, under its lock, in the order in which errors stand
// among the elements. So a limit ends a run at the same element whatever works ahead (coro/dropped_errors.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

/// Made by error_accounts, and fixed but for the counts.
struct error_account {
  std::uint64_t key = 0;
  std::string stage;  ///< "map(parse)"
  std::uint64_t errors_max = ~std::uint64_t{0};
  error_account* around = nullptr;  ///< null: the run itself
  std::uint64_t own = 0;            ///< counted for this one
  std::uint64_t counted = 0;        ///< and for those within it, too

  bool has_limit() const { return errors_max != ~std::uint64_t{0}; }
};

class error_accounts {
 public:
  /// The account of the stage known by `key` within the run. The same limit and the same `around` are part of which one it is.
  error_account* of(std::uint64_t key, std::string_view stage, std::uint64_t errors_max, error_account* around);
  /// Has any account a limit?
  bool have_limits() const { return have_limits_.load(std::memory_order_relaxed); }

  // Called by run_context, under its lock. A null account is that of errors that no stage has met.

  /// So many more may be counted for `a` until one of the limits that hold for it is reached.
  static std::uint64_t room(const error_account* a);
  static void count(error_account* a, std::uint64_t n);
  std::vector<stage_errors> report() const;

  /// The most that the limits of `a` and of those around it allow in all.
  static std::uint64_t most(const error_account* a);

 private:
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<error_account>> all_;           ///< in the order of their making; guarded by mutex_
  std::unordered_map<std::uint64_t, error_account*> by_key_;  ///< guarded by mutex_
  std::atomic<bool> have_limits_{false};  ///< relaxed: it only decides how many errors in a row keep their own words
};

}  // namespace sluice::lib
