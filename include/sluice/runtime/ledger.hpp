// SPDX-License-Identifier: Apache-2.0
// One budget for every byte in flight: who holds how much, and is there room to work further ahead.
//
//   ledger_line& mine = ledger.line(purpose::channel, "map(decode)");
//   if (!ledger.try_charge(n, mine, me)) …               // no room: me->room_again() is called once when there is
//   ledger.change(n, real_bytes, mine);                  // an estimate becomes what it turned out to be
//   ledger.release(real_bytes, mine);
//
//   buffer* b = buffer::make(n);
//   ledger.charge(b->capacity(), mine);                  // counted, whether it fits or not
//   b->charge(&mine, b->capacity());                     // the last reference gives them back
//
// Nobody waits here: what the consumer waits for may not wait for memory that only the consumer can free. Whoever works
// ahead charges what its next block is expected to take *before* it starts, and only if that fits; what the consumer
// waits for goes on without asking (decision 0002). What is held for long (shuffles, batches, open compressed
// files, listings) is refused by its stage when it comes to more than the budget in sum (decision 0012). So the peak is the
// budget, plus one block for each channel that is waited for, plus at most 32 MiB of files' windows.
// Thread: any. Call it with no lock that room_again() of any waiter takes: giving bytes back calls waiters.
// Units: bytes.
// Owns:   the lines outlive the ledger for as long as buffers are charged to them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/buffer.hpp"

namespace sluice::lib {

/// What bytes are held for, as reports name it.
enum class purpose : std::uint8_t { read_ahead, channel, shuffle, batch, open_file, listing, window, state };
inline constexpr std::size_t kPurposes = 8;
std::string_view to_string(purpose p);
/// Held until the stage itself lets go, so that waiting would not help: bounded by the budget in sum.
constexpr bool is_held(purpose p) { return p >= purpose::shuffle; }

/// What one stage (all stages of that name) holds for one purpose.
class ledger_line : public byte_account {
 public:
  ledger_line(const ledger_line&) = delete;

 protected:
  ledger_line() = default;
  ~ledger_line() = default;
};

struct ledger_line_report {
  std::string stage;  ///< empty: charged without a name
  purpose held_for = purpose::channel;
  std::size_t used_bytes = 0;
  std::size_t peak_bytes = 0;
  std::size_t holders = 0;  ///< how many shuffles, batches in the making, open files … there are now
};

struct ledger_report {
  std::size_t budget_bytes = 0;
  std::size_t used_bytes = 0;
  std::size_t peak_bytes = 0;
  std::array<std::size_t, kPurposes> by_purpose{};
  std::vector<ledger_line_report> lines;  ///< those that ever held something, the highest peak first
  /// "12.0 MiB of 64.0 MiB (channel 10.0 MiB, batch 2.0 MiB), peak 30.1 MiB"
  std::string to_string() const;
  /// "shuffle 16.0 MiB in 17 places, batch 2.0 MiB": what is held now, the largest first.
  std::string held_text() const;
};

/// Somebody who works ahead and was refused.
class room_waiter {
 public:
  /// There may be room now; try again. Called at most once for each refusal, from whatever thread gave bytes back.
  virtual void room_again() noexcept = 0;

 protected:
  ~room_waiter() = default;
};

class memory_ledger {
 public:
  explicit memory_ledger(std::size_t budget_bytes);
  memory_ledger(const memory_ledger&) = delete;
  memory_ledger& operator=(const memory_ledger&) = delete;
  ~memory_ledger();

  /// The line of a purpose and a stage, made when it is first asked for. Of very many, the last share one.
  ledger_line& line(purpose p, std::string_view stage = {});
  /// One more, or one fewer, holds something on this line; for reports.
  void add_holders(int n, ledger_line& l) noexcept;

  /// Counted, whether it fits or not.
  void charge(std::size_t bytes, ledger_line& l) { change(0, bytes, l); }
  void release(std::size_t bytes, ledger_line& l) noexcept { change(bytes, 0, l); }
  /// What was charged as `from` takes `to`.
  void change(std::size_t from, std::size_t to, ledger_line& l) noexcept;
  /// Charges if that keeps within the budget, or if nothing is charged at all.
  bool try_charge(std::size_t bytes, ledger_line& l);
  /// The same; where it does not fit, `waiter` is called once there is room.
  bool try_charge(std::size_t bytes, ledger_line& l, std::weak_ptr<room_waiter> waiter);
  /// Charges what of `bytes` fits into the budget; says how much that was.
  std::size_t charge_up_to(std::size_t bytes, ledger_line& l);
  /// Charges if that is at most `beyond` over the budget.
  bool charge_within(std::size_t bytes, std::size_t beyond, ledger_line& l);

  /// Of what is charged on this line, so much more (or less) is a guess: it counts against the budget, not as a peak.
  void add_guess(std::ptrdiff_t bytes, ledger_line& l) noexcept;

  void charge(std::size_t bytes, purpose p) { charge(bytes, line(p)); }
  void release(std::size_t bytes, purpose p) noexcept { release(bytes, line(p)); }

  /// Takes effect for what is asked from now on; what is charged stays.
  void set_budget(std::size_t budget_bytes);
  /// Is less charged than the budget? What may as well come later asks this first.
  bool within_budget() const noexcept;
  std::size_t budget_bytes() const noexcept;
  std::size_t used_bytes() const noexcept;
  /// Of used_bytes(), what is held (is_held).
  std::size_t held_bytes() const noexcept;
  ledger_report report() const;

 private:
  class books;
  books* books_;  ///< counted: the lines that buffers out there are charged to hold it too
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::ledger_report;
using lib::memory_ledger;

}  // namespace sluice
