// SPDX-License-Identifier: Apache-2.0
// The base class of the channels between two stages: the slots, the limits on how many are in flight, and the
// coroutines that wait. The derived class decides the order in which the reader gets the slots: ordered_ring (prefetch,
// parallel map and interleave) or unordered_ring (sloppy map).
//
//   pump:   reserve() → fill slot.input → commit_inputs(slot); or filled(slot), and later commit_outputs(slot)
//   reader: receive() → hand_on(slot) → the slot is freed
//
// A reader that requested it gets the input back if blocks are light (runtime/sites/cost_estimate.hpp), and continues
// without a channel: the pump ends, and take_input() returns the input to the reader once all slots are read
// (docs/internals/decisions/channels.md).
//
// Limits count slots and elements, and may change at any time. Bytes are limited by the ledger: they are charged before
// a slot is filled.
// Invariant: the reader is resumed only when a slot is ready for it, or the channel has ended or was stopped. The pump
//            is resumed only when it may fill a slot and the expected bytes of that slot are charged (grant()), or by
//            close() or a stop, which end it.
// Thread: one pump, one reader, any number of computations. One mutex guards all state. A block that no coroutine waits
//         for locks it four times: reserve, commit, receive, hand_on. With a computation, filled() locks it a fifth
//         time.
// Owns:   the slots. It is shared by reader, pump and computations, and destroyed with the last of them.
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "ahead/admission.hpp"
#include "ahead/block_size.hpp"
#include "ahead/channel_memory.hpp"
#include "ahead/ready_signal.hpp"
#include "ahead/slot.hpp"
#include "ahead/use_timer.hpp"
#include "runtime/live_knob.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/coro/erased_stream.hpp"
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
  slot_supply(const slot_supply&) = delete;
  slot_supply& operator=(const slot_supply&) = delete;
  virtual ~slot_supply();

  const std::shared_ptr<run_context>& run() const { return run_; }
  /// Sets the signal that is notified, with this channel's number, whenever receive() has a slot. REQUIRES: the pump
  /// has not started.
  void set_signal(std::shared_ptr<ready_signal> s, std::uint32_t number) {
    mutex_lock lock(mutex_);  // a stop may happen concurrently
    signal_ = std::move(s);
    number_ = number;
  }
  /// Sets the computation that converts inputs to outputs, if any. REQUIRES: the pump has not started.
  void set_computation(std::shared_ptr<const slot_computation> c) { computation_ = std::move(c); }
  const std::shared_ptr<const slot_computation>& computation() const { return computation_; }
  /// The reader uses `elements` together: blocks end where such groups of inputs end, if that changes their size by at
  /// most a factor of eight. `first`: the ordinal of the first input. REQUIRES: the pump has not started.
  void set_group(std::uint64_t elements, std::uint64_t first) {
    mutex_lock lock(mutex_);  // a stop may happen concurrently
    group_ = elements;
    next_ = first;
  }
  const channel_memory& memory() const { return memory_; }

  // Called by the pump.
  class reserve_awaiter;
  struct reservation {
    ring_slot* slot = nullptr;
    std::uint32_t elements = 0;
  };
  /// `co_await` returns a free slot and the number of elements to request for it; a null slot if the reader has closed
  /// the channel.
  reserve_awaiter reserve();
  /// Replaces the charge of the slot by `bytes`, its actual size.
  void charge(ring_slot* s, std::size_t bytes);
  /// Stores the mark of the input that was recorded before this slot is filled.
  virtual void note(ring_slot* s, mark m) = 0;
  /// The slot was filled with `count` elements from ordinal `first` on, which took `took`, and will be computed.
  void filled(ring_slot* s, std::uint64_t first, std::uint32_t count, duration took);
  /// The same, for a channel without computation: its inputs are its outputs. `took`: the time to produce them, which
  /// determines the size of later blocks. Returns true if the reader was waiting for this slot and has been resumed.
  bool commit_inputs(ring_slot* s, std::uint64_t first, std::uint32_t count, duration took);
  /// The input has ended, or failed with `why`. `unused` is the slot that was reserved; the errors in it come before
  /// the end. `not_passed`: the number of elements to be skipped first that did not exist.
  void finish(ring_slot* unused, status why, std::uint64_t not_passed = 0);

  /// Returns true if the reader needs the input itself and no more blocks.
  bool wants_input() const;
  /// Called when the pump ends before its input does: the reader may take the input. `missed`: errors after the last
  /// slot.
  void return_input(erased_stream in, dropped_errors missed);

  // Called by a computation.
  /// The computation has produced outputs of `bytes`, and its next output has about `next` bytes. Returns true if that
  /// fits into the charge of the slot, or if the charge could be increased: as far as the budget allows, and to the
  /// size of a block at most.
  bool has_room(ring_slot* s, std::size_t bytes, std::size_t next);
  /// Only the first `count` inputs have been computed; the others are computed when the reader has consumed the outputs
  /// of these.
  void cut_short(ring_slot* s, std::uint32_t count);
  /// The outputs are in slot->output. `took`: the time to compute them, which determines the size of later blocks,
  /// unless calls are awaited. `each_bytes`: the memory of one output, or of its input if that is larger. Returns the same
  /// as commit_inputs().
  bool commit_outputs(ring_slot* s, duration took, std::size_t each_bytes);

  // Called by the reader, in any order of slots.
  status why() const {
    mutex_lock lock(mutex_);  // a stop may happen after the end
    return why_;
  }
  std::uint64_t not_passed() const {
    mutex_lock lock(mutex_);
    return not_passed_;
  }
  /// Moves out the errors of elements that were dropped after the last slot. At most once.
  dropped_errors missed_at_end() {
    mutex_lock lock(mutex_);
    return std::exchange(missed_at_end_, dropped_errors());
  }
  /// Requests the input as soon as blocks are light. REQUIRES: the pump has not started.
  void ask_for_input() { asks_for_input_ = true; }
  /// Returns the input that the pump has returned; empty if none. REQUIRES: receive() has returned null.
  erased_stream take_input();
  /// Declares that the reader waits for this channel by other means than receive(): one block is admitted even beyond
  /// the budget.
  void urge();
  /// Returns true if a block is being produced, or will be without another urge().
  bool busy() const;
  /// The reader needs no more blocks: the pump destroys its input and ends.
  void close();

  /// Changes the limits. After lower ones no slot is admitted until enough are free; finished blocks are kept.
  /// Thread: any.
  void set_limits(limits l);
  /// From now on the limits are at(value of the knob). The knob lives as long as the run.
  struct live_limits {
    live_knob* knob = nullptr;  ///< null: they do not change
    limits (*at)(std::int64_t value) = nullptr;
  };
  void follow(const live_limits& l);
  void knob_changed() noexcept override { set_limits(followed_.at(followed_.knob->get())); }
  /// Called by the ledger: bytes have been credited, so a refused charge may fit now.
  void room_again() noexcept override;

 protected:
  slot_supply(std::shared_ptr<run_context> run, channel_memory memory, const element_type& in, const element_type& out,
              limits l);

  class receive_awaiter;

  // The order of slots, decided by the derived class.

  /// A slot will be filled; it is the newest.
  virtual void entered(ring_slot* s) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  /// The newest slot will not be filled after all.
  virtual void withdrawn(ring_slot* s) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  /// All outputs of the slot have been consumed, or it has none: pick() must not return it again.
  virtual void left(ring_slot* s) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  /// Returns the slot that the reader gets next; null if none is ready.
  virtual ring_slot* pick() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  /// Returns true if pick() will never return a slot again.
  virtual bool exhausted() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return over_ && filling_ == 0 && !pick(); }
  /// Returns true if slots must be filled even beyond the limits: a replay needs one that is not in flight yet.
  virtual bool beyond_limits() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return false; }
  /// Returns true if more slots are in flight than any genuine position can require.
  virtual bool too_far_beyond() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return false; }

  /// Credits the bytes that hand_on() frees. The ledger may call other channels, and this one.
  void charge_handed_on(ring_slot* s) ABSL_LOCKS_EXCLUDED(mutex_) { charge(s, s->rest ? payload_bytes(s->input) : 0); }
  /// The reader has consumed this number of the slot's outputs; `last`: all remaining ones.
  void hand_on_locked(ring_slot* s, std::uint32_t outputs, bool last) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// The reader has consumed the whole slot. If some of its inputs are not computed yet (cut_short), starts their
  /// computation and returns false. Otherwise destroys its elements and returns true: call free_locked() then.
  bool emptied(ring_slot* s) ABSL_LOCKS_EXCLUDED(mutex_);
  /// Makes the slot free.
  void free_locked(ring_slot* s) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void set_state(ring_slot* s, ring_slot::state to) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    filling_ += to == ring_slot::state::filling;
    filling_ -= s->at == ring_slot::state::filling;
    s->at = to;
  }
  void wake(std::coroutine_handle<>& waiting) {
    if (waiting) run_->exec->post(std::exchange(waiting, {}));
  }
  void grant_pump() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (pump_waits_ && grant()) wake(pump_waits_);
  }

  const std::shared_ptr<run_context> run_;
  const channel_memory memory_;
  mutable mutex mutex_;
  limits limits_ ABSL_GUARDED_BY(mutex_);
  std::size_t in_flight_ ABSL_GUARDED_BY(mutex_) =
      0;  // slots that are being filled, are ready, or are with the reader and not wholly consumed
  std::uint64_t next_ ABSL_GUARDED_BY(mutex_) = 0;  // ordinal of the next input
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::coroutine_handle<> reader_waits_ ABSL_GUARDED_BY(mutex_);

 private:
  /// Returns true if the pump may fill one more slot; its expected bytes are charged then, once, until the pump gets
  /// the slot. Blocks that are produced ahead must fit into the budget. If nothing is in flight and the reader waits
  /// for this channel, one block is admitted even beyond the budget, because waiting could last forever.
  bool grant() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool pump_must_wait() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !closed_ && !stopped_ && !grant(); }
  /// The reasons for which pump and reader wait now.
  wait_reason why_pump_waits() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  wait_reason why_reader_waits() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// A granted reservation. Without a slot, the caller must credit the charge.
  struct granted {
    reservation got;
    channel_memory::charge charged;
  };
  granted take_granted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Called when a slot has become free: resumes a waiting pump. If blocks are quick to produce, it waits until half of
  /// the slots are free, because a wake-up would cost more than a block.
  void wake_pump() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void enter_inputs(ring_slot* s, std::uint64_t first, std::uint32_t count) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void begin_use(const ring_slot& s) {
    if (asks_for_input_) use_.begin(s.output_count, *run_->time);
  }
  void end_use() { use_.end(memory_.costs(), *run_->time); }
  /// The slot is ready. Returns true if the reader was waiting for it and has been resumed. Call notify_reader() after
  /// the mutex is unlocked.
  bool commit(ring_slot* s, slab& outputs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// No block follows the present ones. Call notify_reader() after the mutex is unlocked.
  void end() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void notify_reader() ABSL_LOCKS_EXCLUDED(mutex_) {
    if (signal_) signal_->notify(number_);
  }
  std::uint32_t elements_for_one_slot() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Returns a number near n, so that the next block ends where a group ends.
  std::uint64_t to_end_of_group(std::uint64_t n) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void stop() noexcept;
  /// For reports. Thread: any.
  channel_fill fill() const ABSL_LOCKS_EXCLUDED(mutex_);

  // For a trace (slot_traces.cpp).
  /// The pump gets the slot: decides whether the trace shows its block.
  void trace_granted(ring_slot* s) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// The pump has requested the slot's inputs for the time `took`.
  void trace_filled(const ring_slot& s, duration took) const;
  /// The event that a trace gets for a block that is put into the channel. After that the slot belongs to the reader.
  struct traced_put {
    bool is_wanted = false;
    std::uint32_t elements = 0;
    time_point at{};
    channel_fill has;
  };
  /// Call it before commit(), and trace_has_put() after the mutex is unlocked.
  traced_put trace_put(ring_slot* s) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void trace_has_put(const traced_put& p, duration took) const;
  /// The reader has taken the block, in a step that it began at this time.
  void trace_taken(ring_slot* s, time_point began) const;

  const element_type& in_;
  const element_type& out_;
  std::shared_ptr<const slot_computation> computation_;
  live_limits followed_;

  time_point traced_at_ ABSL_GUARDED_BY(mutex_){};  // the newest block in the trace
  std::vector<std::unique_ptr<ring_slot>> slots_ ABSL_GUARDED_BY(mutex_);
  std::vector<ring_slot*> free_ ABSL_GUARDED_BY(mutex_);
  std::size_t filling_ ABSL_GUARDED_BY(mutex_) = 0;  // slots in the state `filling`
  std::uint64_t elements_in_flight_ ABSL_GUARDED_BY(mutex_) = 0;
  block_size size_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t group_ ABSL_GUARDED_BY(mutex_) = 1;
  std::uint64_t not_passed_ ABSL_GUARDED_BY(mutex_) = 0;
  dropped_errors missed_at_end_ ABSL_GUARDED_BY(mutex_);
  bool urged_ ABSL_GUARDED_BY(mutex_) = false;  // the reader waits for this channel by other means than receive()
  admission admission_ ABSL_GUARDED_BY(mutex_){memory_};
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  status why_ ABSL_GUARDED_BY(mutex_);
  std::coroutine_handle<> pump_waits_ ABSL_GUARDED_BY(mutex_);
  erased_stream returned_ ABSL_GUARDED_BY(mutex_);

  // Constant once the pump has started.
  bool asks_for_input_ = false;
  std::shared_ptr<ready_signal> signal_;
  std::uint32_t number_ = ready_signal::kNobody;  // of this channel among those of the signal
  use_timer use_;                                 // used only by the reader

  struct stopper {
    slot_supply* supply;
    void operator()() const noexcept { supply->stop(); }
  };
  std::optional<std::stop_callback<stopper>> on_stop_;
  std::optional<channel_record::member> listed_;  ///< no report looks at this channel after the destructor has begun
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
  wait_reason why_ = wait_reason::room;
};

/// The awaiter of receive() in both derived classes: returns the slot that pick() chooses, as soon as one is ready;
/// null at the end.
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
  stage_base* stage_ = nullptr;  // the stage that waits
  time_point began_{};
  wait_reason why_ = wait_reason::input;
  bool waited_ = false;
};

inline slot_supply::reserve_awaiter slot_supply::reserve() { return reserve_awaiter(*this); }

}  // namespace sluice::lib
