// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/ledger.hpp"

#include <algorithm>
#include <atomic>
#include <deque>

#include "absl/strings/str_cat.h"
#include "base/text/mebibytes.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib {
namespace {

/// A server may run plans with new function names for months: beyond this number of names, all further ones share a
/// line. Lines of their own, which end with their runs, are not limited.
constexpr std::size_t kLinesMax = 256;

/// A waiter is called when the room that it requested is available, or this share of the budget: it may want less by
/// now, and the waiters after it may want less than it does.
constexpr std::size_t kRoomShare = 16;
/// The limit for one release, so that a release does not visit all channels of a wide interleave each time.
constexpr int kCallsPerRelease = 8;

/// A number that changes under the books' mutex. Readers that need only its momentary value read it without the mutex.
/// Relaxed: no other memory depends on it.
class shown_bytes {
 public:
  shown_bytes(std::size_t bytes = 0) : bytes_(bytes) {}  // NOLINT: is a number
  shown_bytes& operator=(std::size_t bytes) noexcept {
    bytes_.store(bytes, std::memory_order_relaxed);
    return *this;
  }
  operator std::size_t() const noexcept { return bytes_.load(std::memory_order_relaxed); }  // NOLINT

 private:
  std::atomic<std::size_t> bytes_;
};

}  // namespace

std::string_view to_string(purpose p) {
  static constexpr std::string_view kNames[kPurposes] = {"read-ahead", "channel", "shuffle", "batch", "open file",
                                                         "file list",  "window",  "state",   "cache"};
  return kNames[static_cast<std::size_t>(p)];
}

std::string ledger_report::to_string() const {
  std::string parts;
  for (std::size_t i = 0; i < kPurposes; ++i) {
    if (by_purpose[i] == 0) continue;
    parts.append(parts.empty() ? " (" : ", ").append(sluice::lib::to_string(static_cast<purpose>(i)));
    absl::StrAppend(&parts, " ", mebibytes(by_purpose[i]));
  }
  if (!parts.empty()) parts += ")";
  return absl::StrCat(mebibytes(used_bytes), " of ", mebibytes(budget_bytes), parts, ", peak ", mebibytes(peak_bytes));
}

std::string ledger_report::held_text() const {
  std::vector<const ledger_line_report*> held;
  for (auto& l : lines)
    if (is_held(l.held_for) && l.used_bytes) held.push_back(&l);
  std::sort(held.begin(), held.end(), [](auto* a, auto* b) { return a->used_bytes > b->used_bytes; });
  std::string text;
  for (auto* l : held) {
    std::string_view what = lib::to_string(l->held_for);
    absl::StrAppend(&text, text.empty() ? "" : ", ", l->stage.empty() ? std::string(what) : l->stage);
    if (!l->stage.empty() && !l->stage.starts_with(what)) absl::StrAppend(&text, " (", std::string(what), ")");
    absl::StrAppend(&text, " ", mebibytes(l->used_bytes));
    if (l->holders > 1) absl::StrAppend(&text, " in ", l->holders, " places");
  }
  return text;
}

/// The shared state of the ledger and its lines. One mutex is enough: it is taken once per block, every 50–200 µs.
class memory_ledger::books {
 public:
  class line final : public ledger_line {
   public:
    /// A line that is shared by name. It lives as long as the books.
    line(books& home, purpose p, std::string_view stage) : home_(home) {
      figures_.stage = stage;
      figures_.held_for = p;
    }
    /// A line of one owner, with one reference. Its charges count on `sum`, too.
    line(books& home, line& sum) : home_(home), sum_(&sum) {
      figures_.held_for = sum.figures_.held_for;  // set once, by the constructor
      home_.retain();
    }
    void release(std::size_t bytes) noexcept override { home_.change(bytes, 0, *this); }
    // The caller already owns a reference. The release of the last one sees all earlier uses before it deletes.
    void retain() noexcept override {
      if (sum_) references_.fetch_add(1, std::memory_order_relaxed);
      else home_.retain();
    }
    void unretain() noexcept override {
      if (!sum_) return home_.unretain();
      if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      books& home = home_;
      delete this;
      home.unretain();
    }
    line* sum() const { return sum_; }
    ledger_line_report report() {
      mutex_lock lock(home_.mutex_);
      ledger_line_report r = home_.of(*this);
      if (sum_) r.stage = home_.of(*sum_).stage;
      return r;
    }

   private:
    friend class books;
    struct figures : ledger_line_report {
      std::size_t guessed_bytes = 0;
    };
    books& home_;
    figures figures_;                         ///< books::of() checks that the mutex is locked
    line* const sum_ = nullptr;               ///< null: this line is shared by name
    std::atomic<std::size_t> references_{1};  ///< to a line of one owner
  };
  static line& line_of(ledger_line& l) noexcept { return static_cast<line&>(l); }

  explicit books(std::size_t budget_bytes) : budget_(budget_bytes) {
    for (std::size_t i = 0; i < kPurposes; ++i)
      unnamed_[i] = std::make_unique<line>(*this, static_cast<purpose>(i), "");
  }

  line& find(purpose p, std::string_view stage) {
    line& unnamed = *unnamed_[static_cast<std::size_t>(p)];
    if (stage.empty()) return unnamed;
    mutex_lock lock(mutex_);
    for (auto& l : lines_)
      if (of(*l).held_for == p && of(*l).stage == stage) return *l;
    if (lines_.size() >= kLinesMax) return unnamed;
    lines_.push_back(std::make_unique<line>(*this, p, stage));
    return *lines_.back();
  }

  void add_guess(std::ptrdiff_t bytes, line& l) noexcept {
    mutex_lock lock(mutex_);
    guessed_ += static_cast<std::size_t>(bytes);
    for (line* at = &l; at; at = at->sum()) of(*at).guessed_bytes += static_cast<std::size_t>(bytes);
  }

  void change(std::size_t from, std::size_t to, line& l, int holders = 0) noexcept {
    {
      mutex_lock lock(mutex_);
      if (holders)
        for (line* at = &l; at; at = at->sum())
          of(*at).holders += static_cast<std::size_t>(static_cast<std::ptrdiff_t>(holders));
      take(to, from, l);
      note_peak(l);
      if (to >= from || waiting_.empty()) return;
    }
    call_waiters();
  }
  bool try_charge(std::size_t bytes, line& l, std::weak_ptr<room_waiter>* waiter) {
    mutex_lock lock(mutex_);
    if (!fits(bytes)) {
      if (waiter) waiting_.push_back({std::move(*waiter), bytes});
      return false;
    }
    take(bytes, 0, l);
    note_peak(l);
    return true;
  }
  std::size_t charge_up_to(std::size_t bytes, line& l) {
    mutex_lock lock(mutex_);
    bytes = std::min(bytes, budget_ - std::min<std::size_t>(budget_, used_));
    take(bytes, 0, l);
    note_peak(l);
    return bytes;
  }
  bool charge_within(std::size_t bytes, std::size_t beyond, line& l) {
    mutex_lock lock(mutex_);
    std::size_t most = budget_ + std::min(beyond, ~std::size_t{0} - budget_);  // a budget may be without limit
    if (bytes > most || used_ > most - bytes) return false;
    take(bytes, 0, l);
    note_peak(l);
    return true;
  }
  void set_budget(std::size_t bytes) {
    {
      mutex_lock lock(mutex_);
      budget_ = bytes;
    }
    call_waiters();
  }
  std::size_t budget() const noexcept { return budget_; }
  std::size_t used() const noexcept { return used_; }
  std::size_t held() const noexcept { return held_; }
  bool within_budget() const noexcept { return used_ < budget_; }
  ledger_report report() {
    ledger_report r;
    mutex_lock lock(mutex_);
    r.budget_bytes = budget_;
    r.used_bytes = used_;
    r.peak_bytes = peak_;
    auto add = [&r](const ledger_line_report& l) {
      r.by_purpose[static_cast<std::size_t>(l.held_for)] += l.used_bytes;
      if (l.peak_bytes) r.lines.push_back(l);
    };
    for (auto& l : unnamed_) add(of(*l));
    for (auto& l : lines_) add(of(*l));
    std::sort(r.lines.begin(), r.lines.end(), [](auto& a, auto& b) { return a.peak_bytes > b.peak_bytes; });
    return r;
  }

  // The caller already owns a reference; the release of the last one must see all earlier uses before it deletes.
  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void unretain() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  ~books() = default;

  line::figures& of(line& l) const noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return l.figures_; }
  /// A request that is larger than the whole budget waits until nothing else is charged.
  bool fits(std::size_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return used_ == 0 || (used_ < budget_ && bytes <= budget_ - used_);
  }
  /// Adds `more` bytes and subtracts `fewer`.
  void take(std::size_t more, std::size_t fewer, line& l) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    SLUICE_REQUIRES(fewer <= of(l).used_bytes, "more bytes are credited than are charged on this line");
    used_ = used_ + more - fewer;
    if (is_held(of(l).held_for)) held_ = held_ + more - fewer;
    for (line* at = &l; at; at = at->sum()) of(*at).used_bytes += more - fewer;
  }
  /// Call this after the released bytes were subtracted, so that an estimate that shrinks does not raise the peak.
  void note_peak(line& l) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    peak_ = std::max(peak_, used_ - std::min<std::size_t>(used_, guessed_));
    for (line* at = &l; at; at = at->sum()) {
      line::figures& f = of(*at);
      f.peak_bytes = std::max(f.peak_bytes, f.used_bytes - std::min(f.used_bytes, f.guessed_bytes));
    }
  }
  /// Calls the oldest waiters first, without the lock. Each charges what it wants by now, or waits again at the end.
  void call_waiters() noexcept {
    for (int calls = 0; calls != kCallsPerRelease; ++calls) {
      std::shared_ptr<room_waiter> next;
      {
        mutex_lock lock(mutex_);
        if (waiting_.empty() || !fits(std::min(waiting_.front().bytes, budget_ / kRoomShare))) return;
        next = waiting_.front().who.lock();
        waiting_.pop_front();
      }
      if (next) next->room_again();
    }
  }

  struct waiting_one {
    std::weak_ptr<room_waiter> who;
    std::size_t bytes;
  };
  mutex mutex_;
  shown_bytes budget_, used_, held_;
  std::size_t peak_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t guessed_ ABSL_GUARDED_BY(mutex_) = 0;  ///< part of used_
  std::deque<waiting_one> waiting_ ABSL_GUARDED_BY(mutex_);
  std::array<std::unique_ptr<line>, kPurposes> unnamed_;
  std::vector<std::unique_ptr<line>> lines_ ABSL_GUARDED_BY(mutex_);
  std::atomic<std::size_t> references_{1};
};

memory_ledger::memory_ledger(std::size_t budget_bytes) : books_(new books(budget_bytes)) {}
memory_ledger::~memory_ledger() { books_->unretain(); }

ledger_line& memory_ledger::line(purpose p, std::string_view stage) { return books_->find(p, stage); }
own_ledger_line memory_ledger::open_line(purpose p, std::string_view stage) {
  return own_ledger_line(*new books::line(*books_, books_->find(p, stage)));
}
ledger_line_report own_ledger_line::report() const { return memory_ledger::books::line_of(*line_).report(); }
void memory_ledger::change(std::size_t from, std::size_t to, ledger_line& l, int holders) noexcept {
  books_->change(from, to, books::line_of(l), holders);
}
void memory_ledger::add_guess(std::ptrdiff_t bytes, ledger_line& l) noexcept {
  books_->add_guess(bytes, books::line_of(l));
}
bool memory_ledger::try_charge(std::size_t bytes, ledger_line& l) {
  return books_->try_charge(bytes, books::line_of(l), nullptr);
}
bool memory_ledger::try_charge(std::size_t bytes, ledger_line& l, std::weak_ptr<room_waiter> waiter) {
  return books_->try_charge(bytes, books::line_of(l), &waiter);
}
std::size_t memory_ledger::charge_up_to(std::size_t bytes, ledger_line& l) {
  return books_->charge_up_to(bytes, books::line_of(l));
}
bool memory_ledger::charge_within(std::size_t bytes, std::size_t beyond, ledger_line& l) {
  return books_->charge_within(bytes, beyond, books::line_of(l));
}
void memory_ledger::set_budget(std::size_t budget_bytes) { books_->set_budget(budget_bytes); }
bool memory_ledger::within_budget() const noexcept { return books_->within_budget(); }
std::size_t memory_ledger::budget_bytes() const noexcept { return books_->budget(); }
std::size_t memory_ledger::used_bytes() const noexcept { return books_->used(); }
std::size_t memory_ledger::held_bytes() const noexcept { return books_->held(); }
ledger_report memory_ledger::report() const { return books_->report(); }

}  // namespace sluice::lib
