// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/ledger.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sluice::lib {
namespace {

std::string in_mebibytes(std::size_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

std::string_view to_string(purpose p) {
  static constexpr std::string_view kNames[] = {"read-ahead", "channel", "shuffle", "batch"};
  return kNames[static_cast<std::size_t>(p)];
}

std::string ledger_report::to_string() const {
  std::string parts;
  for (std::size_t i = 0; i < kPurposes; ++i) {
    if (by_purpose[i] == 0) continue;
    parts.append(parts.empty() ? " (" : ", ").append(sluice::lib::to_string(static_cast<purpose>(i)));
    absl::StrAppend(&parts, " ", in_mebibytes(by_purpose[i]));
  }
  if (!parts.empty()) parts += ")";
  return absl::StrCat(in_mebibytes(used_bytes), " of ", in_mebibytes(budget_bytes), parts, ", peak ",
                      in_mebibytes(peak_bytes));
}

/// The state behind the ledger and its accounts. One mutex: it is taken once per block, 50–200 µs apart.
class memory_ledger::books {
 public:
  explicit books(std::size_t budget_bytes) {
    totals_.budget_bytes = budget_bytes;
    for (std::size_t i = 0; i < kPurposes; ++i) accounts_[i].bind(this, static_cast<purpose>(i));
  }

  void charge(std::size_t bytes, purpose p) {
    std::lock_guard lock(mutex_);
    totals_.by_purpose[static_cast<std::size_t>(p)] += bytes;
    totals_.used_bytes += bytes;
    totals_.peak_bytes = std::max(totals_.peak_bytes, totals_.used_bytes);
  }
  void release(std::size_t bytes, purpose p) noexcept {
    std::lock_guard lock(mutex_);
    totals_.by_purpose[static_cast<std::size_t>(p)] -= bytes;
    totals_.used_bytes -= bytes;
  }
  void set_budget(std::size_t bytes) {
    std::lock_guard lock(mutex_);
    totals_.budget_bytes = bytes;
  }
  ledger_report report() {
    std::lock_guard lock(mutex_);
    return totals_;
  }
  bool within_budget() noexcept {
    std::lock_guard lock(mutex_);
    return totals_.used_bytes < totals_.budget_bytes;
  }

  // Whoever retains already holds one; the last one must see all earlier uses before it deletes.
  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void unretain() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  class account final : public byte_account {
   public:
    void bind(books* home, purpose p) noexcept {
      home_ = home;
      purpose_ = p;
    }
    void release(std::size_t bytes) noexcept override { home_->release(bytes, purpose_); }
    void retain() noexcept override { home_->retain(); }
    void unretain() noexcept override { home_->unretain(); }

   private:
    books* home_ = nullptr;
    purpose purpose_ = purpose::channel;
  };
  account& at(purpose p) noexcept { return accounts_[static_cast<std::size_t>(p)]; }

 private:
  ~books() = default;
  std::mutex mutex_;
  ledger_report totals_ ABSL_GUARDED_BY(mutex_);
  std::atomic<std::size_t> references_{1};
  std::array<account, kPurposes> accounts_;
};

memory_ledger::memory_ledger(std::size_t budget_bytes) : books_(new books(budget_bytes)) {}
memory_ledger::~memory_ledger() { books_->unretain(); }

void memory_ledger::charge(std::size_t bytes, purpose p) { books_->charge(bytes, p); }
void memory_ledger::release(std::size_t bytes, purpose p) noexcept { books_->release(bytes, p); }
byte_account& memory_ledger::account(purpose p) noexcept { return books_->at(p); }
void memory_ledger::set_budget(std::size_t budget_bytes) { books_->set_budget(budget_bytes); }
bool memory_ledger::within_budget() const noexcept { return books_->within_budget(); }
ledger_report memory_ledger::report() const { return books_->report(); }

}  // namespace sluice::lib
