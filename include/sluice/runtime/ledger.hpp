// SPDX-License-Identifier: Apache-2.0
// One budget for every byte in flight.
//
//   co_await ledger.charge(n, purpose::read_ahead);      // waits its turn until n bytes are free
//   buffer* b = buffer::make(n);
//   b->charge(&ledger.account(purpose::read_ahead), n);  // the last reference gives them back
//
// Order:  those who wait are served in the order in which they came; try_charge does not overtake them.
// Errors: charge() of more than the whole budget unwinds with resource_exhausted: it could never be served.
// Cancel: a stop unwinds the wait with `cancelled`; nothing is charged then.
// Thread: any.  Units: bytes.
// Owns:   the accounts outlive the ledger for as long as buffers are charged to them.
// The cap is hard for whoever asks. What the consumer itself waits for may not wait for memory that only the consumer
// can free: that one block is taken with charge_anyway(), counted as overdraft, and makes everybody else wait.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sluice/base/buffer.hpp"
#include "sluice/coro/waiter.hpp"

namespace sluice {

/// What bytes are held for, as reports name it.
enum class purpose : std::uint8_t { read_ahead, channel, shuffle, batch, other };
inline constexpr std::size_t kPurposes = 5;
std::string_view to_string(purpose p);

struct ledger_report {
  std::size_t budget_bytes = 0;
  std::size_t used_bytes = 0;
  std::size_t peak_bytes = 0;
  std::size_t overdraft_peak_bytes = 0;  ///< how far the peak went beyond the budget
  std::uint64_t waits = 0;
  std::array<std::size_t, kPurposes> by_purpose{};
  /// "12.0 MiB of 64.0 MiB (channel 10.0 MiB, batch 2.0 MiB), peak 30.1 MiB"
  std::string to_string() const;
};

class memory_ledger {
 public:
  explicit memory_ledger(std::size_t budget_bytes);
  memory_ledger(const memory_ledger&) = delete;
  memory_ledger& operator=(const memory_ledger&) = delete;
  ~memory_ledger();

  class charge_awaiter;
  bool try_charge(std::size_t bytes, purpose p = purpose::channel);
  [[nodiscard]] charge_awaiter charge(std::size_t bytes, purpose p = purpose::channel);
  /// For the one block that guarantees progress: never refused, counted as overdraft when it does not fit.
  void charge_anyway(std::size_t bytes, purpose p = purpose::channel);
  void release(std::size_t bytes, purpose p = purpose::channel) noexcept;
  /// For buffers, which credit it when their last reference goes.
  byte_account& account(purpose p) noexcept;

  /// Takes effect for what is asked from now on; what is charged stays.
  void set_budget(std::size_t budget_bytes);
  /// Is less charged than the budget? What may as well come later asks this, and does not wait in the queue.
  bool within_budget() const noexcept;
  std::size_t budget_bytes() const { return report().budget_bytes; }
  std::size_t used_bytes() const { return report().used_bytes; }
  ledger_report report() const;

 private:
  class books;
  books* books_;  ///< counted: the accounts of buffers that are still out there hold it too
};

class [[nodiscard]] memory_ledger::charge_awaiter final : detail::waiter {
 public:
  charge_awaiter(books& b, std::size_t bytes, purpose p) noexcept : books_(b), bytes_(bytes), purpose_(p) {}
  ~charge_awaiter() { abandon(); }

  bool await_ready();
  template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) {
    return wait(h, mutex(), queue(), [this](detail::wake_list&) { return attempt(); });
  }
  void await_resume() const noexcept {}

 private:
  friend class books;
  detail::attempt attempt();
  std::mutex& mutex() noexcept;
  detail::waiter_list& queue() noexcept;
  void left(detail::wake_list& woken) noexcept override;

  books& books_;
  std::size_t bytes_;
  purpose purpose_;
};

}  // namespace sluice
