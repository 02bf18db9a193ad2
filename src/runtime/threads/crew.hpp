// SPDX-License-Identifier: Apache-2.0
// The workers of a scheduler: queues of work, the search for work, and sleep.
//
// Handing over a wake-up. A poster publishes its item, then reads idle_. A sleeper raises idle_, then checks every
// queue. All four accesses are seq_cst, so one of the two sees the other. While a worker searches (searching_ is 1),
// posters wake no other worker: the searcher finds the item, or lowers searching_ and checks once more before it
// sleeps. A searcher that finds an item wakes the next worker if more items exist. So at most one worker at a time
// searches.
//
// The slot. A worker's last post stays in its slot, for the worker itself and without waking another: that item is the
// consumer whose data is in this cache. If the worker is then busy for long, the item in the slot would starve. So
// while any worker runs, one sleeper is the watcher: it wakes at short intervals, and takes an item that was in the
// slot at two checks while the slot's owner made no progress (tokio#4941: never stealable stalls; tokio#8065: always
// stealable costs 30 %).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/threads/work_deque.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/coro/channel.hpp"
#include "sluice/runtime/scheduler.hpp"

namespace sluice::lib {

struct alignas(64) crew_worker {
  // Used by the owner and by thieves.
  detail::work_deque near;                ///< removed from the slot: newest first
  detail::work_deque far;                 ///< posted later: oldest first
  std::atomic<void*> slot{nullptr};       ///< only the owner stores here, any thread takes
  std::atomic<std::uint64_t> resumed{0};  ///< written by the owner; also shows a watcher if it makes progress

  // Used only by the owner.
  scheduler* home = nullptr;
  unsigned index = 0;
  unsigned slot_runs = 0;
  std::uint64_t seed = 0;
  bool searcher = false;  ///< has the searching token
  bool watcher = false;
  std::atomic<std::uint64_t> stolen{0}, parked{0};
  struct look {
    void* item = nullptr;
    std::uint64_t resumed = 0;
  };
  std::vector<look> looks;  ///< a watcher's last check of each slot
  std::chrono::steady_clock::time_point looked{};
  std::chrono::microseconds nap{0};
  unsigned quiet_naps = 0;

  bool woken = false;  ///< under crew::sleep_mutex_, which no annotation here can name
  std::condition_variable wake;
  std::thread thread;
};

class scheduler::crew {
 public:
  crew(scheduler& home, unsigned workers);
  ~crew();

  void join();
  void post(crew_worker& w, void* item) noexcept;
  void post_far(crew_worker& w, void* item) noexcept;
  bool worth_sharing(std::chrono::nanoseconds took, const moved_data& moved) const noexcept;
  void inject(void* item) noexcept;
  crew_worker* mine() const noexcept;
  unsigned size() const noexcept { return static_cast<unsigned>(workers_.size()); }
  scheduler_counts counts() const noexcept;

 private:
  void run(crew_worker& w);
  void* next(crew_worker& w);
  void* take_local(crew_worker& w);
  void* take_against_the_order(crew_worker& w);
  void* take_slot(crew_worker& w);
  void* take_injected();
  void* search(crew_worker& w);
  void* steal_from(crew_worker& thief, crew_worker& victim);
  void* steal_stale_slots(crew_worker& thief);
  bool any_work() const;
  void notify() noexcept;
  void start_watch() noexcept;
  bool wake_one(bool to_watch) noexcept;
  void drop_duties(crew_worker& w) noexcept;
  void park(crew_worker& w);
  bool nap_or_sleep(crew_worker& w, mutex_lock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(sleep_mutex_);
  void look_around(crew_worker& w) ABSL_EXCLUSIVE_LOCKS_REQUIRED(sleep_mutex_);

  enum class shares : std::uint8_t { measured, always, mixed };
  static shares how_shared();
  const shares shares_;
  mutable std::atomic<std::uint32_t> asked_{0};  ///< mixed: the number of worth_sharing() calls
  std::vector<std::unique_ptr<crew_worker>> workers_;

  mutex inject_mutex_;
  detail::ring<void*> injected_ ABSL_GUARDED_BY(inject_mutex_);
  alignas(64) std::atomic<std::size_t> injected_count_{0};

  alignas(64) std::atomic<unsigned> idle_{0};
  std::atomic<unsigned> searching_{0};
  std::atomic<bool> watched_{false};
  std::atomic<std::uint64_t> woken_{0};
  mutex sleep_mutex_;
  std::vector<crew_worker*> sleepers_ ABSL_GUARDED_BY(sleep_mutex_);
  bool stopping_ ABSL_GUARDED_BY(sleep_mutex_) = false;
};

}  // namespace sluice::lib
