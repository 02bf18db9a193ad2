// SPDX-License-Identifier: Apache-2.0
// One budget for every byte in flight: who holds how much, and is there room to work further ahead.
//
//   ledger.charge(n, purpose::channel);                  // counted, whether it fits or not
//   …
//   ledger.release(n, purpose::channel);
//
//   buffer* b = buffer::make(n);
//   ledger.charge(n, purpose::read_ahead);
//   b->charge(&ledger.account(purpose::read_ahead), n);  // the last reference gives them back
//
// Nobody waits here: what the consumer waits for may not wait for memory that only the consumer can free. Whoever works
// ahead asks within_budget() before it takes more, and looks again when its reader takes something (decision 0002); what
// alone is larger than the budget is refused by whoever holds it. So the peak is the budget, plus one block for each
// channel that is waited for, plus at most 32 MiB of files' windows.
// Thread: any.  Units: bytes.
// Owns:   the accounts outlive the ledger for as long as buffers are charged to them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/base/buffer.hpp"

namespace sluice::lib {

/// What bytes are held for, as reports name it.
enum class purpose : std::uint8_t { read_ahead, channel, shuffle, batch };
inline constexpr std::size_t kPurposes = 4;
std::string_view to_string(purpose p);

struct ledger_report {
  std::size_t budget_bytes = 0;
  std::size_t used_bytes = 0;
  std::size_t peak_bytes = 0;
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

  void charge(std::size_t bytes, purpose p);
  void release(std::size_t bytes, purpose p) noexcept;
  /// For buffers, which credit it when their last reference goes.
  byte_account& account(purpose p) noexcept;

  /// Takes effect for what is asked from now on; what is charged stays.
  void set_budget(std::size_t budget_bytes);
  /// Is less charged than the budget? What may as well come later asks this first.
  bool within_budget() const noexcept;
  std::size_t budget_bytes() const { return report().budget_bytes; }
  std::size_t used_bytes() const { return report().used_bytes; }
  ledger_report report() const;

 private:
  class books;
  books* books_;  ///< counted: the accounts of buffers that are still out there hold it too
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::ledger_report;
using lib::memory_ledger;

}  // namespace sluice
