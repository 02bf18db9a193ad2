// SPDX-License-Identifier: Apache-2.0
// What both kinds of channel between two stages are made of: the slots, how many of them may be in flight, and who waits.
// The order in which the reader gets them is the subclass's: ordered_ring (prefetch, parallel map and interleave), or
// unordered_ring (sloppy map).
//
//   pump:   reserve() → fill slot.input → commit_inputs(slot); or filled(slot), and a computation calls commit_outputs(slot)
//   reader: receive() → hand_on(slot) → the slot is freed
//
// Limits are in slots and elements, and may change at any time; bytes are the ledger's, charged before a slot is filled. The
// reader is resumed only when there is something for it, and the pump only once the bytes of its next slot are charged.
// Thread: one pump, one reader, any number of computations. All state is under one mutex, which a block that nobody waits for
//         takes four times: reserve, commit, receive, hand_on.
// Owns:   the slots, shared by reader, pump and computations; it dies with the last of them.
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "ahead/channel_memory.hpp"
#include "ahead/ready_signal.hpp"
#include "ahead/slot.hpp"
#include "runtime/live_knob.hpp"
#include "sluice/coro/this_stage.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

class slot_computation;

class slot_supply : public room_waiter, public knob_follower, public std::enable_shared_from_this<slot_supply> {
 public:
  struct limits {
    std::uint32_t slots = 1;
    std::uint64_t elements = ~std::uint64_t{0};
  };
  static constexpr std::uint32_t kBlockElementsMax = 1024;
  slot_supply(const slot_supply&) = delete;
  slot_supply& operator=(const slot_supply&) = delete;
  virtual ~slot_supply();

  const std::shared_ptr<run_context>& run() const { return run_; }
  /// Is told whenever receive() has more to give, by which of its channels. Before the pump starts.
  void set_signal(std::shared_ptr<ready_signal> s, std::uint32_t number) {
    std::lock_guard lock(mutex_);  // a stop may come already
    signal_ = std::move(s);
    number_ = number;
  }
  /// What computes slots, where something does. Before the pump starts.
  void set_computation(std::shared_ptr<const slot_computation> c) { computation_ = std::move(c); }
  const std::shared_ptr<const slot_computation>& computation() const { return computation_; }
  const channel_memory& memory() const { return memory_; }

  // The pump's side.
  class reserve_awaiter;
  struct reservation {
    ring_slot* slot = nullptr;
    std::uint32_t elements = 0;
  };
  /// A free slot, and how many elements it may take; null: nobody reads any more.
  reserve_awaiter reserve();
  /// The slot's charge becomes what it really takes.
  void charge(ring_slot* s, std::size_t bytes);
  /// The input's position before this slot.
  virtual void note(ring_slot* s, mark m) = 0;
  /// The slot was filled with `count` elements from ordinal `first` on, and is to be computed.
  void filled(ring_slot* s, std::uint64_t first, std::uint32_t count);
  /// The same, and its inputs are its outputs. `took`: to make; blocks are sized by it. Returns true if the reader was waiting
  /// for this and has been resumed.
  bool commit_inputs(ring_slot* s, std::uint64_t first, std::uint32_t count, duration took);
  /// No more slots: the end, or an error. The reserved one goes back; what it says is missed comes before the end.
  /// `not_passed`: of the elements that were to be passed over first, how many did not exist.
  void finish(ring_slot* unused, status why, std::uint64_t not_passed = 0);

  // A computation's side.
  /// It has made outputs of so many bytes, and would make more, of about `next`: is there room in this slot? Outputs that turn
  /// out larger than was expected may take more memory as far as there is some, and a block's size at most.
  bool has_room(ring_slot* s, std::size_t bytes, std::size_t next);
  /// Only the first `count` inputs have been computed. The others are, in a round of their own, when the slot is given back.
  void cut_short(ring_slot* s, std::uint32_t count);
  /// The outputs are in slot->output. `took`: to compute; blocks are sized by it, unless calls are awaited. Returns as
  /// commit_inputs().
  bool commit_outputs(ring_slot* s, duration took);

  // The reader's side, in whatever order it reads.
  status why() const {
    std::lock_guard lock(mutex_);  // a stop may come after the end
    return why_;
  }
  std::uint64_t not_passed() const {
    std::lock_guard lock(mutex_);
    return not_passed_;
  }
  /// Errors behind the last slot. Once.
  dropped_errors missed_at_end() {
    std::lock_guard lock(mutex_);
    return std::exchange(missed_at_end_, dropped_errors());
  }
  /// The reader waits for this channel, though not in receive(): one block goes on whatever the ledger says.
  void urge();
  /// Is a block on its way to the reader, or will be without another urge()?
  bool busy() const;
  /// The reader is gone: the pump drops its input and ends.
  void close();

  /// Any thread. Lower ones admit no more until as many slots are free; nothing that was made is dropped.
  void set_limits(limits l);
  /// From now on they are what `at` says of the knob's value. The knob is the run's.
  struct live_limits {
    live_knob* knob = nullptr;  ///< null: they do not change
    limits (*at)(std::int64_t value) = nullptr;
  };
  void follow(const live_limits& l);
  void knob_changed() noexcept override { set_limits(followed_.at(followed_.knob->get())); }
  /// There may be memory again, says the ledger.
  void room_again() noexcept override;

 protected:
  slot_supply(std::shared_ptr<run_context> run, channel_memory memory, const element_type& in, const element_type& out,
              limits l);

  class receive_awaiter;

  // The order. All under the mutex.
  /// A slot is being filled: it is the newest.
  virtual void entered(ring_slot* s) = 0;
  /// The newest slot turns out to be unused.
  virtual void withdrawn(ring_slot* s) = 0;
  /// All that the slot has was handed on, or it has nothing: it is not to be picked again.
  virtual void left(ring_slot* s) = 0;
  /// What the reader gets now; null: it has to wait, or all is over.
  virtual ring_slot* pick() const = 0;
  /// pick() gives nothing, and never will.
  virtual bool exhausted() const { return over_ && filling_ == 0 && !pick(); }
  /// Are slots to be filled whatever the limits say?
  virtual bool beyond_limits() const { return false; }
  /// More is in flight beyond the limits than any honest position asks for.
  virtual bool too_far_beyond() const { return false; }

  /// What hand_on() with `last` charges before it takes the mutex: the ledger may call other channels.
  void charge_handed_on(ring_slot* s) { charge(s, s->rest ? payload_bytes(s->input) : 0); }
  /// The reader hands on so many outputs of the slot; `last`: all that are left. Under the mutex.
  void hand_on_locked(ring_slot* s, std::uint32_t outputs, bool last);
  /// The consumer needs nothing of the slot any more. Computes the rest of its inputs, if it has any, and returns false; else
  /// drops what it holds: free_locked() is to follow. Without the mutex.
  bool emptied(ring_slot* s);
  /// Under the mutex.
  void free_locked(ring_slot* s);
  void set_state(ring_slot* s, ring_slot::state to) {
    filling_ += to == ring_slot::state::filling;
    filling_ -= s->at == ring_slot::state::filling;
    s->at = to;
  }
  void wake(std::coroutine_handle<>& waiting) {
    if (waiting) run_->exec->post(std::exchange(waiting, {}));
  }
  void grant_pump() {
    if (pump_waits_ && grant()) wake(pump_waits_);
  }

  const std::shared_ptr<run_context> run_;
  const channel_memory memory_;
  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  limits limits_;
  std::size_t in_flight_ = 0;  // slots that are filled, done or with the reader, and not handed on as a whole
  std::uint64_t next_ = 0;     // ordinal after the last input taken
  bool over_ = false;
  bool stopped_ = false;
  std::coroutine_handle<> reader_waits_;

 private:
  /// May the pump fill one more slot? Charges what that is expected to take, once, until the pump takes the slot.
  /// Read-ahead has to fit into the budget together with everything else. What the reader waits for never waits for
  /// memory: where nothing is in flight and the reader waits here, one block goes on.
  bool grant();
  bool pump_must_wait() { return !closed_ && !stopped_ && !grant(); }
  /// What was granted. Without a slot: the charge is to be given back.
  struct granted {
    reservation got;
    std::size_t charged_bytes = 0, guessed_bytes = 0;
  };
  granted take_granted();
  void give_back(std::size_t charged, std::size_t guessed);
  /// The reader has made room: the pump goes on, where blocks are quick to make only once half of them are gone.
  void wake_pump();
  void enter_inputs(ring_slot* s, std::uint64_t first, std::uint32_t count);
  /// The next blocks are sized by how long this one took to make, and by what it holds.
  void size_blocks(duration took, const ring_slot& s);
  bool commit(ring_slot* s, slab& outputs, std::unique_lock<std::mutex>& lock);
  std::uint32_t elements_for_one_slot() const;
  void stop() noexcept;

  const element_type& in_;
  const element_type& out_;
  std::shared_ptr<const slot_computation> computation_;
  live_limits followed_;

  // All below: guarded by mutex_.
  std::vector<std::unique_ptr<ring_slot>> slots_;
  std::vector<ring_slot*> free_;
  std::size_t filling_ = 0;  // of the slots
  std::uint64_t elements_in_flight_ = 0;
  std::uint32_t block_elements_ = 1;  // how many a slot takes: grows while blocks are quick to make
  bool quick_ = false;                // making a block takes less than a wake is worth
  std::uint64_t not_passed_ = 0;
  dropped_errors missed_at_end_;
  bool urged_ = false;                   // the reader waits elsewhere for this channel
  bool asked_for_room_ = false;          // the ledger will call room_again()
  bool granted_ = false;                 // the pump may take a slot,
  std::size_t granted_bytes_ = 0;        // and this is charged for it,
  std::size_t granted_guess_bytes_ = 0;  // as a guess
  std::shared_ptr<ready_signal> signal_;
  std::uint32_t number_ = ready_signal::kNobody;  // of this channel among those of the signal
  bool closed_ = false;
  status why_;
  std::coroutine_handle<> pump_waits_;

  struct stopper {
    slot_supply* supply;
    void operator()() const noexcept { supply->stop(); }
  };
  std::optional<std::stop_callback<stopper>> on_stop_;
};

class [[nodiscard]] slot_supply::reserve_awaiter {
 public:
  explicit reserve_awaiter(slot_supply& s) noexcept : supply_(s) {}
  bool await_ready();
  bool await_suspend(std::coroutine_handle<> h);
  reservation await_resume();

 private:
  slot_supply& supply_;
  std::optional<granted> taken_;
  time_point began_{};
};

/// What both rings' receive() is: a slot, as soon as pick() gives one, or null at the end.
class [[nodiscard]] slot_supply::receive_awaiter {
 public:
  /// `done`: the slot received before, which is freed with this call.
  receive_awaiter(slot_supply& s, ring_slot* done) noexcept : supply_(s), done_(done) {}
  bool await_ready();
  template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) {
    stage_ = stage_of(&h.promise());
    return wait(h);
  }
  ring_slot* await_resume();

 private:
  bool wait(std::coroutine_handle<> h);
  slot_supply& supply_;
  ring_slot* done_ = nullptr;
  ring_slot* got_ = nullptr;
  stage_base* stage_ = nullptr;  // that waits
  time_point began_{};
  bool waited_ = false;
};

inline slot_supply::reserve_awaiter slot_supply::reserve() { return reserve_awaiter(*this); }

}  // namespace sluice::lib
