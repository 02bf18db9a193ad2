// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/scheduler.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "coro/trace_log.hpp"
#include "runtime/sites/moving_cost.hpp"
#include "runtime/threads/crew.hpp"
#include "sluice/coro/detail/frame_pool.hpp"

namespace sluice::lib {
namespace {

constexpr unsigned kSlotRunsMax = 3;  // then an older item runs: two items that wake each other would starve the rest
constexpr std::uint64_t kOrderPeriod =
    61;                               // interval in items at which the far end is first; prime: no period matches it
constexpr unsigned kSpinRounds = 32;  // ≈ 10 µs of search before a park, compared with 2–13 µs for a wake-up
constexpr std::chrono::microseconds kNapMin{100};  // minimum age of a slot's item to be taken: about one block of work
constexpr std::chrono::microseconds kNapMax{
    1000};                             // bounds the starvation; 1,000 idle wakes a second are 0.5 % of a core
constexpr unsigned kQuietNapsMax = 8;  // naps while all others sleep, after which the watcher sleeps without a timeout

thread_local crew_worker* t_worker = nullptr;

}  // namespace

scheduler::scheduler(unsigned workers) : crew_(std::make_unique<crew>(*this, std::max(workers, 1u))) {}
scheduler::~scheduler() = default;
void scheduler::join() { crew_->join(); }

void scheduler::post(std::coroutine_handle<> h) noexcept {
  if (crew_worker* w = crew_->mine()) crew_->post(*w, h.address());
  else crew_->inject(h.address());
}
void scheduler::post_later(std::coroutine_handle<> h) noexcept {
  if (crew_worker* w = crew_->mine()) crew_->post_far(*w, h.address());
  else crew_->inject(h.address());
}
bool scheduler::worth_sharing(std::chrono::nanoseconds took, const moved_data& moved) noexcept {
  return crew_->worth_sharing(took, moved);
}
bool scheduler::on_worker() const noexcept { return crew_->mine() != nullptr; }
unsigned scheduler::workers() const noexcept { return crew_->size(); }
scheduler_counts scheduler::counts() const noexcept { return crew_->counts(); }

scheduler::crew::crew(scheduler& home, unsigned workers) : shares_(how_shared()) {
  if (shares_ == shares::measured && workers > 1)
    machine_moving_cost();  // measured once per process, before any worker runs
  for (unsigned i = 0; i < workers; ++i) {
    auto w = std::make_unique<crew_worker>();
    w->home = &home;
    w->index = i;
    w->seed = i + 1;
    w->looks.resize(workers);
    workers_.push_back(std::move(w));
  }
  sleepers_.reserve(workers);  // a worker that begins to sleep needs no memory
  try {
    for (auto& w : workers_) w->thread = std::thread([this, p = w.get()] { run(*p); });
  } catch (...) {  // a limit on threads: the started threads must end before they are destroyed
    join();
    throw;
  }
}

scheduler::crew::~crew() { join(); }

void scheduler::crew::join() {
  {
    mutex_lock lock(sleep_mutex_);
    stopping_ = true;
    for (auto& w : workers_) w->wake.notify_one();
  }
  for (auto& w : workers_)
    if (w->thread.joinable()) w->thread.join();
}

crew_worker* scheduler::crew::mine() const noexcept {
  crew_worker* w = t_worker;
  return w && w->home->crew_.get() == this ? w : nullptr;
}

scheduler_counts scheduler::crew::counts() const noexcept {
  scheduler_counts sum;
  for (auto& w : workers_) {
    sum.resumed += w->resumed.load(std::memory_order_relaxed);
    sum.stolen += w->stolen.load(std::memory_order_relaxed);
    sum.parked += w->parked.load(std::memory_order_relaxed);
  }
  sum.woken = woken_.load(std::memory_order_relaxed);
  return sum;
}

// ---- posting

void scheduler::crew::post(crew_worker& w, void* item) noexcept {
  void* old = w.slot.load(std::memory_order_relaxed);
  if (!old) {
    w.slot.store(item, std::memory_order_release);  // only this thread stores, so an empty slot stays empty meanwhile
    if (!watched_.load(std::memory_order_relaxed) && idle_.load(std::memory_order_relaxed) > 0) start_watch();
    return;
  }
  old = w.slot.exchange(item, std::memory_order_acq_rel);  // publishes our item, acquires the old: a thief may want it
  if (!old) return;
  if (w.near.push(old)) notify();
  else inject(old);
}

void scheduler::crew::post_far(crew_worker& w, void* item) noexcept {
  // A single item is not worth waking another worker: this worker takes it at its next wait, or the watcher does if
  // that takes long. A spawn that is joined at once then costs 80 ns and no futex call.
  bool lone = w.far.empty() && !w.slot.load(std::memory_order_relaxed);
  if (!w.far.push(item)) return inject(item);
  if (!lone) return notify();
  if (!watched_.load(std::memory_order_relaxed) && idle_.load(std::memory_order_relaxed) > 0) start_watch();
}

scheduler::crew::shares scheduler::crew::how_shared() {
  const char* how = std::getenv("SLUICE_SHARE");
  if (!how) return shares::measured;
  if (std::string_view(how) == "always") return shares::always;
  return std::string_view(how) == "mixed" ? shares::mixed : shares::measured;
}

bool scheduler::crew::worth_sharing(std::chrono::nanoseconds took, const moved_data& moved) const noexcept {
  if (shares_ == shares::always) return true;
  if (shares_ == shares::mixed) return (asked_.fetch_add(1, std::memory_order_relaxed) * 0x9e3779b9u >> 28) % 2 != 0;
  return workers_.size() > 1 && machine_moving_cost().of(moved) < took;
}

void scheduler::crew::inject(void* item) noexcept {
  {
    mutex_lock lock(inject_mutex_);
    injected_.emplace_back(item);
    injected_count_.store(injected_.size(), std::memory_order_seq_cst);  // the poster's side of the hand-over
  }
  notify();
}

// ---- taking

void scheduler::crew::run(crew_worker& w) {
  t_worker = &w;
  // Registers the thread's lists of frames. For that glibc allocates memory or ends the process, so it must happen now:
  // the first frame that is freed here may belong to a run that has found no memory.
  detail::free_frame(detail::allocate_frame(1), 1);
  while (void* item = next(w)) {
    w.resumed.store(w.resumed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    const bool is_traced = tracing();
    if (is_traced) [[unlikely]]
      trace_begin_turn("worker", w.index, std::chrono::steady_clock::now());
    std::coroutine_handle<>::from_address(item).resume();
    if (is_traced) [[unlikely]]
      trace_end_turn(std::chrono::steady_clock::now());
  }
  t_worker = nullptr;
}

void* scheduler::crew::next(crew_worker& w) {
  for (;;) {
    void* item = take_local(w);
    if (!item) item = search(w);
    if (item) {
      if (w.searcher || w.watcher) drop_duties(w);
      return item;
    }
    {
      mutex_lock lock(sleep_mutex_);
      if (stopping_) return nullptr;
    }
    park(w);
  }
}

void* scheduler::crew::take_local(crew_worker& w) {
  if (w.resumed.load(std::memory_order_relaxed) % kOrderPeriod == 0)
    if (void* item = take_against_the_order(w)) return item;
  if (w.slot_runs < kSlotRunsMax) {
    if (void* item = take_slot(w)) return ++w.slot_runs, item;
  } else if (void* oldest = w.near.steal()) {
    w.slot_runs = 0;
    return oldest;
  }
  w.slot_runs = 0;
  if (void* item = w.near.pop()) return item;
  if (void* item = take_injected()) return item;
  if (void* item = w.far.steal()) return item;
  return take_slot(w);
}

void* scheduler::crew::take_against_the_order(crew_worker& w) {
  if (void* item = take_injected()) return item;
  if (void* item = w.far.steal()) return item;
  return w.near.steal();
}

void* scheduler::crew::take_slot(crew_worker& w) {
  if (!w.slot.load(std::memory_order_relaxed)) return nullptr;
  return w.slot.exchange(nullptr, std::memory_order_acquire);  // a thief may have taken it first
}

void* scheduler::crew::take_injected() {
  if (injected_count_.load(std::memory_order_seq_cst) == 0) return nullptr;
  mutex_lock lock(inject_mutex_);
  if (injected_.size() == 0) return nullptr;
  void* item = injected_.front();
  injected_.pop_front();
  injected_count_.store(injected_.size(), std::memory_order_seq_cst);
  return item;
}

// ---- looking for work elsewhere

/// A worker that has found work neither searches nor watches.
void scheduler::crew::drop_duties(crew_worker& w) noexcept {
  if (w.watcher) {
    w.watcher = false;
    watched_.store(false, std::memory_order_relaxed);
  }
  if (!w.searcher) return;
  w.searcher = false;
  searching_.store(0, std::memory_order_seq_cst);
  if (idle_.load(std::memory_order_seq_cst) > 0 && any_work()) notify();
}

void* scheduler::crew::search(crew_worker& w) {
  if (workers_.size() == 1) return nullptr;
  unsigned none = 0;
  if (!w.searcher && !searching_.compare_exchange_strong(none, 1, std::memory_order_seq_cst)) return nullptr;
  w.searcher = true;
  // On two cores a spinning worker slows down the other one, which is its hyperthread.
  unsigned rounds = workers_.size() > 2 ? kSpinRounds : 1;
  void* item = nullptr;
  for (unsigned r = 0; r < rounds && !item; ++r) {
    w.seed = w.seed * 6364136223846793005u + 1442695040888963407u;
    std::size_t first = (w.seed >> 33) % workers_.size();
    for (std::size_t i = 0; i < workers_.size() && !item; ++i)
      item = steal_from(w, *workers_[(first + i) % workers_.size()]);
    if (!item) item = take_injected();
  }
  if (!item && w.watcher) item = steal_stale_slots(w);
  if (item) w.stolen.fetch_add(1, std::memory_order_relaxed);
  return item;
}

void* scheduler::crew::steal_from(crew_worker& thief, crew_worker& victim) {
  if (&thief == &victim) return nullptr;
  if (void* item = victim.near.steal()) return item;
  return victim.far.steal();
}

bool scheduler::crew::any_work() const {
  if (injected_count_.load(std::memory_order_seq_cst) > 0) return true;
  return std::any_of(workers_.begin(), workers_.end(), [](auto& w) { return !w->near.empty() || !w->far.empty(); });
}

// ---- waking

void scheduler::crew::notify() noexcept {
  if (idle_.load(std::memory_order_seq_cst) == 0) return;
  unsigned none = 0;
  if (!searching_.compare_exchange_strong(none, 1, std::memory_order_seq_cst)) return;
  // If no worker is left to wake, those that have just woken up check the queues before they sleep again.
  if (!wake_one(false)) searching_.store(0, std::memory_order_seq_cst);
}

void scheduler::crew::start_watch() noexcept {
  if (watched_.exchange(true, std::memory_order_relaxed)) return;
  if (!wake_one(true)) watched_.store(false, std::memory_order_relaxed);
}

bool scheduler::crew::wake_one(bool to_watch) noexcept {
  mutex_lock lock(sleep_mutex_);
  if (sleepers_.empty()) return false;
  crew_worker* w = sleepers_.back();
  sleepers_.pop_back();
  idle_.fetch_sub(1, std::memory_order_seq_cst);
  w->woken = true;
  (to_watch ? w->watcher : w->searcher) = true;  // it sleeps, so this thread may change its members under the mutex
  woken_.fetch_add(1, std::memory_order_relaxed);
  w->wake.notify_one();
  return true;
}

// ---- sleeping

void scheduler::crew::park(crew_worker& w) {
  mutex_lock lock(sleep_mutex_);
  bool searched = std::exchange(w.searcher, false);  // after the push, the waking thread may set it
  w.woken = false;
  sleepers_.push_back(&w);
  idle_.fetch_add(1, std::memory_order_seq_cst);
  lock.unlock();
  if (searched) searching_.store(0, std::memory_order_seq_cst);
  bool stay = any_work();
  lock.lock();
  if (!stay && !w.woken && !stopping_) stay = nap_or_sleep(w, lock);
  if (w.woken) return;  // the waking thread has removed us from the list
  sleepers_.erase(std::find(sleepers_.begin(), sleepers_.end(), &w));
  idle_.fetch_sub(1, std::memory_order_seq_cst);
}

bool scheduler::crew::nap_or_sleep(crew_worker& w, mutex_lock& lock) {
  w.parked.fetch_add(1, std::memory_order_relaxed);
  // A worker that begins to sleep while others work, and finds no watcher, becomes the watcher. Relaxed: two watchers
  // do no harm.
  if (!w.watcher && sleepers_.size() < workers_.size()) w.watcher = !watched_.exchange(true, std::memory_order_relaxed);
  if (w.watcher) look_around(w);
  auto done = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(sleep_mutex_) { return w.woken || stopping_; };
  if (w.watcher) return w.wake.wait_for(lock.inner(), w.nap, done);
  w.wake.wait(lock.inner(), done);
  return true;
}

/// Decides how long the watcher naps, and stores what it saw.
void scheduler::crew::look_around(crew_worker& w) {
  bool anything = false;
  for (auto& other : workers_) {
    crew_worker::look seen{other->slot.load(std::memory_order_relaxed), other->resumed.load(std::memory_order_relaxed)};
    if (other.get() == &w) seen = {};
    anything |= seen.item != nullptr || !other->far.empty();
    w.looks[other->index] = seen;
  }
  w.looked = std::chrono::steady_clock::now();
  bool all_asleep = sleepers_.size() == workers_.size();
  w.quiet_naps = all_asleep ? w.quiet_naps + 1 : 0;
  w.nap = anything ? kNapMin : std::clamp(w.nap * 2, kNapMin, kNapMax);
  if (w.quiet_naps <= kQuietNapsMax) return;
  // All the others sleep. A thread that wakes one of them synchronizes with it through sleep_mutex_, so the next post
  // of that worker sees that no watcher exists.
  w.watcher = false;
  w.quiet_naps = 0;
  watched_.store(false, std::memory_order_relaxed);
}

void* scheduler::crew::steal_stale_slots(crew_worker& thief) {
  if (std::chrono::steady_clock::now() - thief.looked < kNapMin) return nullptr;
  for (auto& victim : workers_) {
    crew_worker::look& seen = thief.looks[victim->index];
    void* item = seen.item;
    if (!item || victim->resumed.load(std::memory_order_relaxed) != seen.resumed) continue;
    seen.item = nullptr;
    // The same address in the slot is a ready coroutine, even if it was posted again meanwhile. acquire: its frame.
    if (victim->slot.compare_exchange_strong(item, nullptr, std::memory_order_acquire)) return item;
  }
  return nullptr;
}

}  // namespace sluice::lib
