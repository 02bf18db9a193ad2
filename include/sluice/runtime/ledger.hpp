// SPDX-License-Identifier: Apache-2.0
// The memory ledger: an account of all bytes in flight on a runtime, by stage and purpose, with one budget for their
// sum.
//
//   own_ledger_line mine = ledger.open_line(purpose::channel, "map(decode)");   // of one stage of one run
//   if (!ledger.try_charge(n, mine, me)) …               // does not fit: me->room_again() is called once it may
//   ledger.change(n, real_bytes, mine);                  // replaces an estimate by the actual size
//   ledger.release(real_bytes, mine);
//
//   buffer* b = buffer::make(n);
//   ledger.charge(b->capacity(), mine);                  // charged even if it exceeds the budget
//   b->charge(&mine, b->capacity());                     // credited when the last reference is dropped
//
// Stages charge by three rules:
//   1. Working ahead. A pump charges the expected size of its next block *before* the block is made, and only if it
//      fits into the budget or nothing else is charged; otherwise it waits until bytes are credited
//      (docs/internals/decisions/memory_budget.md).
//   2. Requested blocks. The ledger charges the block that a consumer waits for even beyond the budget. Perhaps only
//      that consumer can free memory.
//   3. Held memory (shuffles, batches, open compressed files, listings). Waiting would not free it, so its stage fails
//      with resource_exhausted when the sum of all held bytes would exceed the budget
//      (docs/internals/decisions/memory_budget.md).
// Therefore the peak is at most the sum of the budget, one block for each channel whose reader waits, and 32 MiB of
// byte windows.
//
// No call blocks or suspends.
// Thread: any. REQUIRES: the caller holds no lock that room_again() of any waiter acquires, since crediting bytes calls
//         waiters.
// Units:  bytes.
// Owns:   the lines that holders share by name. A line lives as long as a buffer is charged to it, even after the
//         ledger.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/base/buffer.hpp"

namespace sluice::lib {

/// The purpose of charged bytes, with its name in reports.
enum class purpose : std::uint8_t { read_ahead, channel, shuffle, batch, open_file, listing, window, state, cache };
inline constexpr std::size_t kPurposes = 9;
std::string_view to_string(purpose p);
/// Returns true for held memory: kept until the stage itself releases it (rule 3).
constexpr bool is_held(purpose p) { return p >= purpose::shuffle; }

/// One line of the ledger: bytes that were charged for one purpose.
class ledger_line : public byte_account {
 public:
  ledger_line(const ledger_line&) = delete;

 protected:
  ledger_line() = default;
  ~ledger_line() = default;
};

struct ledger_line_report {
  std::string stage;  ///< the name of the line; empty if charged without a name
  purpose held_for = purpose::channel;
  std::size_t used_bytes = 0;
  std::size_t peak_bytes = 0;
  /// The number of objects that hold memory on this line now: shuffles, unfinished batches, open files …
  std::size_t holders = 0;
};

struct ledger_report {
  std::size_t budget_bytes = 0;
  std::size_t used_bytes = 0;
  std::size_t peak_bytes = 0;
  std::array<std::size_t, kPurposes> by_purpose{};
  /// The sums over all lines of one purpose and name, in all runs, that were ever charged; the highest peak first.
  std::vector<ledger_line_report> lines;
  /// Returns "12.0 MiB of 64.0 MiB (channel 10.0 MiB, batch 2.0 MiB), peak 30.1 MiB".
  std::string to_string() const;
  /// Returns "shuffle 16.0 MiB in 17 places, batch 2.0 MiB": the memory held now, the largest first.
  std::string held_text() const;
};

/// A channel whose try_charge was refused.
class room_waiter {
 public:
  /// Called at most once for each refusal, when bytes have been credited: the charge may fit now and can be tried
  /// again. Thread: that of the caller of release() or change().
  virtual void room_again() noexcept = 0;

 protected:
  ~room_waiter() = default;
};

/// The owner of a line that memory_ledger::open_line() made. The line exists until its owner is destroyed and no buffer
/// is charged to it. Thread: calls of report() may be concurrent with charges.
class own_ledger_line {
 public:
  own_ledger_line() = default;  ///< has no line
  /// Takes over one reference of `line`.
  explicit own_ledger_line(ledger_line& line) noexcept : line_(&line) {}
  own_ledger_line(own_ledger_line&& other) noexcept : line_(std::exchange(other.line_, nullptr)) {}
  own_ledger_line& operator=(own_ledger_line&& other) noexcept {
    std::swap(line_, other.line_);
    return *this;
  }
  ~own_ledger_line() {
    if (line_) line_->unretain();
  }
  ledger_line& get() const noexcept { return *line_; }
  /// Reports what is charged on this line alone.
  ledger_line_report report() const;

 private:
  ledger_line* line_ = nullptr;
};

class memory_ledger {
 public:
  explicit memory_ledger(std::size_t budget_bytes);
  memory_ledger(const memory_ledger&) = delete;
  memory_ledger& operator=(const memory_ledger&) = delete;
  ~memory_ledger();

  /// Returns the line that all holders of one purpose and name share, and builds it at the first call. The number of
  /// these lines is bounded: further names share one line.
  ledger_line& line(purpose p, std::string_view stage = {});
  /// Makes a line for one holder, such as one stage of one run. Its bytes also count on line(p, stage), so that the
  /// ledger's report has one line for each name.
  own_ledger_line open_line(purpose p, std::string_view stage);

  /// Charges `bytes`, even beyond the budget.
  void charge(std::size_t bytes, ledger_line& l) { change(0, bytes, l); }
  /// Credits `bytes`. REQUIRES: they are charged on this line.
  void release(std::size_t bytes, ledger_line& l) noexcept { change(bytes, 0, l); }
  /// Replaces a charge of `from` bytes by one of `to` bytes, even beyond the budget. `holders`: the change in the
  /// number of objects that hold memory on this line.
  void change(std::size_t from, std::size_t to, ledger_line& l, int holders = 0) noexcept;
  /// Charges `bytes` and returns true if the sum is then at most the budget, or if nothing else is charged. Otherwise
  /// charges nothing and returns false.
  bool try_charge(std::size_t bytes, ledger_line& l);
  /// Does the same. After a refusal `waiter`, if it still exists, is called once bytes have been credited.
  bool try_charge(std::size_t bytes, ledger_line& l, std::weak_ptr<room_waiter> waiter);
  /// Charges as much of `bytes` as fits into the budget; returns the number of bytes charged.
  std::size_t charge_up_to(std::size_t bytes, ledger_line& l);
  /// Does what try_charge does, against the budget plus `beyond`.
  bool charge_within(std::size_t bytes, std::size_t beyond, ledger_line& l);

  /// Declares that `bytes` more (or fewer, if negative) of those charged on this line are an estimate of a size that is
  /// not known yet. Estimates count against the budget, but not in the reported peaks.
  void add_guess(std::ptrdiff_t bytes, ledger_line& l) noexcept;

  void charge(std::size_t bytes, purpose p) { charge(bytes, line(p)); }
  void release(std::size_t bytes, purpose p) noexcept { release(bytes, line(p)); }

  /// Changes the budget for later charges. Bytes charged before stay charged.
  void set_budget(std::size_t budget_bytes);
  /// Returns true if less is charged than the budget, so that more bytes may fit. At the budget it returns false.
  bool within_budget() const noexcept;
  std::size_t budget_bytes() const noexcept;
  std::size_t used_bytes() const noexcept;
  /// The part of used_bytes() that is held (is_held).
  std::size_t held_bytes() const noexcept;
  ledger_report report() const;

 private:
  friend own_ledger_line;
  class books;
  books* books_;  ///< reference-counted: shared with the lines that buffers are charged to
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::ledger_report;
using lib::memory_ledger;

}  // namespace sluice
