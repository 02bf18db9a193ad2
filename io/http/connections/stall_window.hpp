// SPDX-License-Identifier: Apache-2.0
// Limits the time to receive a body: at least `stall_bytes` must arrive in each `stall_timeout` (http.hpp).
//
//   stall_window alive(context, deadline);
//   … co_await body.read_body(to, alive.until());      // deadline_exceeded: it has stalled, or the caller's time has passed
//   alive.moved(n);
//
// Thread: one.
#pragma once

#include <algorithm>
#include <cstddef>

#include "io/http/http_context.hpp"

namespace sluice::lib::detail {

class stall_window {
 public:
  /// Starts the first window.
  stall_window(http_context& context, time_point deadline)
      : time_(context.time),
        length_(context.options.stall_timeout),
        bytes_(context.options.stall_bytes),
        deadline_(deadline),
        ends_(time_.now() + length_) {}

  time_point until() const { return std::min(deadline_, ends_); }
  /// Records the number of bytes received. The next window begins when `stall_bytes` have arrived.
  void moved(std::size_t bytes) {
    come_ += bytes;
    if (come_ < bytes_) return;
    ends_ = time_.now() + length_;
    come_ = 0;
  }

 private:
  clock& time_;
  const duration length_;
  const std::size_t bytes_;
  const time_point deadline_;
  time_point ends_;
  std::size_t come_ = 0;
};

}  // namespace sluice::lib::detail
