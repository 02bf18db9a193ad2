// SPDX-License-Identifier: Apache-2.0
// Collects the errors of elements that are dropped upstream of a channel, so that the pump can put them into the slot
// of the next block: they are counted when the reader gets to that place (coro/dropped_errors.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/sites/error_account.hpp"
#include "sluice/coro/dropped_errors.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

/// Receives the errors of the stages below a pump. Ends the stream after more errors than the whole run, or one of the
/// stages below, allows. The reader counts these errors before it reaches that end, so the run ends by then, and no
/// work is done after them.
/// Thread: the stream's thread.
class collected_errors final : public error_sink {
 public:
  explicit collected_errors(std::shared_ptr<run_context> run) : run_(std::move(run)) {}
  status met(dropped_error e) override {
    std::uint64_t room = run_->errors_max - total_;
    for (error_account* a = e.account; a; a = a->around)
      if (a->has_limit()) room = std::min(room, a->errors_max - met_of(a));
    bool too_many = e.times > room;
    if (!too_many) {
      total_ += e.times;
      for (error_account* a = e.account; a; a = a->around)
        if (a->has_limit()) met_of(a) += e.times;
    }
    status end = too_many ? e.why : status();
    errors_.add(std::move(e), run_->errors_kept_apart());
    return end;
  }
  /// Returns the errors since the last call.
  dropped_errors take() { return std::exchange(errors_, dropped_errors()); }

 private:
  struct limited {
    error_account* account;
    std::uint64_t met;  ///< at most its errors_max
  };
  /// A plan has few stages with a limit, and a stream fewer.
  std::uint64_t& met_of(error_account* a) {
    for (limited& l : limited_)
      if (l.account == a) return l.met;
    return limited_.emplace_back(limited{a, 0}).met;
  }

  std::shared_ptr<run_context> run_;
  dropped_errors errors_;
  std::uint64_t total_ = 0;       ///< at most errors_max
  std::vector<limited> limited_;  ///< the accounts with a limit
};

}  // namespace sluice::lib
