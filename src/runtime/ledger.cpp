// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/ledger.hpp"

#include <algorithm>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sluice {
namespace {

std::string in_mebibytes(std::size_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

std::string_view to_string(purpose p) {
  static constexpr std::string_view kNames[] = {"read-ahead", "channel", "shuffle", "batch", "other"};
  return kNames[static_cast<std::size_t>(p)];
}

std::string ledger_report::to_string() const {
  std::string parts;
  for (std::size_t i = 0; i < kPurposes; ++i) {
    if (by_purpose[i] == 0) continue;
    parts.append(parts.empty() ? " (" : ", ").append(sluice::to_string(static_cast<purpose>(i)));
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

  // Under mutex.
  detail::attempt take(std::size_t bytes, purpose p, bool overtake) {
    if (bytes > totals_.budget_bytes) return detail::attempt::failed;
    if (!overtake && !queue.empty()) return detail::attempt::pending;
    if (totals_.used_bytes > totals_.budget_bytes - bytes) return detail::attempt::pending;
    add(bytes, p);
    return detail::attempt::done;
  }
  void add(std::size_t bytes, purpose p) noexcept {
    totals_.by_purpose[static_cast<std::size_t>(p)] += bytes;
    totals_.used_bytes += bytes;
    totals_.peak_bytes = std::max(totals_.peak_bytes, totals_.used_bytes);
    if (totals_.used_bytes > totals_.budget_bytes)
      totals_.overdraft_peak_bytes = std::max(totals_.overdraft_peak_bytes, totals_.used_bytes - totals_.budget_bytes);
  }
  void serve(detail::wake_list& woken) noexcept {
    while (auto* w = static_cast<charge_awaiter*>(queue.front())) {
      auto a = take(w->bytes_, w->purpose_, true);
      if (a == detail::attempt::pending) return;
      w->wake_into(woken, a == detail::attempt::failed ? too_large(w->bytes_) : status());
    }
  }
  status too_large(std::size_t bytes) const {
    return resource_exhausted_error(absl::StrCat(in_mebibytes(bytes), " at once do not fit into the memory budget of ",
                                                 in_mebibytes(totals_.budget_bytes), "; raise memory_budget_bytes"));
  }

  void give_back(std::size_t bytes, purpose p) noexcept {
    detail::waking_lock lock(mutex);
    totals_.by_purpose[static_cast<std::size_t>(p)] -= bytes;
    totals_.used_bytes -= bytes;
    serve(lock.woken);
  }
  ledger_report report() {
    std::lock_guard lock(mutex);
    return totals_;
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
    void release(std::size_t bytes) noexcept override { home_->give_back(bytes, purpose_); }
    void retain() noexcept override { home_->retain(); }
    void unretain() noexcept override { home_->unretain(); }

   private:
    books* home_ = nullptr;
    purpose purpose_ = purpose::other;
  };
  account& at(purpose p) noexcept { return accounts_[static_cast<std::size_t>(p)]; }

  std::mutex mutex;
  detail::waiter_list queue ABSL_GUARDED_BY(mutex);
  ledger_report totals_ ABSL_GUARDED_BY(mutex);

 private:
  ~books() = default;
  std::atomic<std::size_t> references_{1};
  std::array<account, kPurposes> accounts_;
};

memory_ledger::memory_ledger(std::size_t budget_bytes) : books_(new books(budget_bytes)) {}
memory_ledger::~memory_ledger() { books_->unretain(); }

bool memory_ledger::try_charge(std::size_t bytes, purpose p) {
  std::lock_guard lock(books_->mutex);
  return books_->take(bytes, p, false) == detail::attempt::done;
}

memory_ledger::charge_awaiter memory_ledger::charge(std::size_t bytes, purpose p) { return {*books_, bytes, p}; }

void memory_ledger::charge_anyway(std::size_t bytes, purpose p) {
  std::lock_guard lock(books_->mutex);
  books_->add(bytes, p);
}

bool memory_ledger::within_budget() const noexcept {
  std::lock_guard lock(books_->mutex);
  return books_->totals_.used_bytes < books_->totals_.budget_bytes;
}

void memory_ledger::release(std::size_t bytes, purpose p) noexcept { books_->give_back(bytes, p); }
byte_account& memory_ledger::account(purpose p) noexcept { return books_->at(p); }

void memory_ledger::set_budget(std::size_t budget_bytes) {
  detail::waking_lock lock(books_->mutex);
  books_->totals_.budget_bytes = budget_bytes;
  books_->serve(lock.woken);
}

ledger_report memory_ledger::report() const { return books_->report(); }

bool memory_ledger::charge_awaiter::await_ready() {
  std::lock_guard lock(mutex());
  bool ready = attempt() == detail::attempt::done;
  if (!ready) ++books_.totals_.waits;
  return ready;
}

detail::attempt memory_ledger::charge_awaiter::attempt() {
  auto a = books_.take(bytes_, purpose_, false);
  if (a == detail::attempt::failed) why_ = books_.too_large(bytes_);
  return a;
}

std::mutex& memory_ledger::charge_awaiter::mutex() noexcept { return books_.mutex; }
detail::waiter_list& memory_ledger::charge_awaiter::queue() noexcept { return books_.queue; }
void memory_ledger::charge_awaiter::left(detail::wake_list& woken) noexcept { books_.serve(woken); }

}  // namespace sluice
