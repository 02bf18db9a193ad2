// SPDX-License-Identifier: Apache-2.0
#include "io/local/operation.hpp"

#include <unistd.h>

namespace sluice::lib::detail {

descriptor::~descriptor() { ::close(number); }

operation::~operation() {
  // The file was opened, and its waiter is gone.
  const state last = waiter_is_.load(std::memory_order_acquire);
  if (what == kind::open && result >= 0 && (last == state::gone || last == state::timed_out))
    ::close(static_cast<int>(result));
}

bool open_operation::opened(int number) noexcept {
  fd = number;
  if (::fstat(number, &found) != 0) stat_error = errno;
  // A read of anything but a regular file may wait forever, and cannot be repeated.
  return length != 0 && stat_error == 0 && S_ISREG(found.st_mode) && found.st_size != 0 &&
         !cancel_wanted.load(std::memory_order_relaxed);
}

void operation::ask_to_cancel(backend& io) noexcept {
  if (!cancel_wanted.exchange(true, std::memory_order_relaxed)) io.cancel(this);
}

void operation::complete(std::int64_t outcome) noexcept {
  result = outcome;
  state seen = state::waits;
  if (waiter_is_.compare_exchange_strong(seen, state::resumed, std::memory_order_acq_rel)) exec->post(waiter);
  drop_reference();
}

void operation::arm(clock& time, time_point deadline, backend& io) noexcept {
  add_reference();
  timer_.of = this;
  timer_.home = &io;
  timer_.due = deadline;
  timer_.fire = &operation::on_deadline;
  time.arm(timer_);
}

void operation::disarm(clock& time) noexcept {
  if (time.cancel(timer_)) drop_reference();  // otherwise the timer drops the reference
}

bool operation::begin() noexcept {
  state seen = state::starts;
  return waiter_is_.compare_exchange_strong(seen, state::waits, std::memory_order_acq_rel);
}

void operation::on_deadline(timer_node& node) noexcept {
  auto& timer = static_cast<deadline_timer&>(node);
  operation* op = timer.of;
  state seen = state::starts;
  if (!op->waiter_is_.compare_exchange_strong(seen, state::timed_out, std::memory_order_acq_rel)) {
    seen = state::waits;
    if (op->waiter_is_.compare_exchange_strong(seen, state::timed_out, std::memory_order_acq_rel)) {
      // cancelled before the waiter resumes, because the waiter may destroy the back end
      op->ask_to_cancel(*timer.home);
      op->exec->post(op->waiter);
    }
  }
  op->drop_reference();
}

}  // namespace sluice::lib::detail
