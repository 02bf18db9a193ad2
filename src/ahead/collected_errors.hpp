// SPDX-License-Identifier: Apache-2.0
// The errors that a stream meets while it is pulled ahead of its reader: they are counted when the reader gets there.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sluice/coro/dropped_errors.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

/// Where the walk of errors ends below a pump. Ends the stream when it has met more errors than the whole run may have:
/// the reader counts them before it meets that end, so the run ends by then, and nothing is done behind them.
/// Thread: the stream's.
class collected_errors final : public error_sink {
 public:
  explicit collected_errors(std::shared_ptr<run_context> run) : run_(std::move(run)) {}
  status met(dropped_error e) override {
    bool too_many = e.times > run_->errors_max - total_;
    if (!too_many) total_ += e.times;
    status end = too_many ? e.why : status();
    errors_.add(std::move(e), run_->errors_kept_apart());
    return end;
  }
  /// Those since the last call.
  dropped_errors take() { return std::exchange(errors_, dropped_errors()); }

 private:
  std::shared_ptr<run_context> run_;
  dropped_errors errors_;
  std::uint64_t total_ = 0;  ///< at most errors_max
};

}  // namespace sluice::lib
