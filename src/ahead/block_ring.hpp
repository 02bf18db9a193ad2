// SPDX-License-Identifier: Apache-2.0
// The bounded, resizable channel of blocks between a pump and a reader: what prefetch, parallel map and parallel
// interleave have in common.
//
//   pump:   reserve() → fill slot.input → commit(slot), or hand the slot to a computation that commits it
//   reader: receive() → the oldest slot (ordered), or any finished one (unordered) → release(slot)
//
// A slot's mark is the input's position when the slot was filled; marks travel here and nowhere else. Limits are in
// slots and elements; bytes are the ledger's, charged before a slot is filled. The reader is resumed only when there is
// something for it, and the pump only once the bytes of its next slot are charged.
// Thread: one pump, one reader, any number of computations. All state is under one mutex, taken nine times per block.
// Owns: the slots, shared by reader, pump and computations; it dies with the last of them.
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "ahead/channel_memory.hpp"
#include "ahead/ready_signal.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

/// An input without an output: a bad element that is passed over.
struct dropped_input {
  std::uint32_t number = 0;  ///< within its slot
  status why;
  error_account* account = nullptr;  ///< as dropped_error's
};

struct ring_slot {
  ring_slot(const element_type& in, const element_type& out) : input(in), output(out) {}
  slab input;
  slab output;                         ///< unused where nothing is computed: the inputs are the outputs
  std::uint32_t input_at = 0;          ///< inputs before this one had their outputs delivered in earlier rounds
  std::uint32_t count = 0;             ///< inputs of this round
  std::uint32_t rest = 0;              ///< inputs of the next round: their outputs had no room in this one
  std::uint64_t first = 0;             ///< ordinal of this round's first input
  dropped_errors missed;               ///< errors that the stream of inputs met in front of these
  std::vector<dropped_input> dropped;  ///< ascending; told by the reader where they stand among the outputs
  std::optional<mark> taken;           ///< the input's position before this slot
  status why;                          ///< of the input after the last output
  std::size_t charged_bytes = 0;
  std::size_t guessed_bytes = 0;   ///< of these, while nothing is known of the elements
  slab* outputs_in = nullptr;      ///< once done: where the outputs are,
  char* outputs_at = nullptr;      ///< from where on,
  std::uint32_t output_count = 0;  ///< and how many there were before any was moved out
  std::uint32_t delivered = 0;     ///< outputs the reader has handed on (unordered reading)
  std::uint32_t waiting = 0;       ///< inputs that still count as in flight: their outputs are not handed on
  bool handed_on = false;          ///< all outputs are: the slot is the consumer's until release()
  enum class state : std::uint8_t { free, filling, done } at = state::free;

  /// All outputs, also those moved out already: tail_of() it.
  block outputs() const { return {outputs_in, &outputs_in->type(), outputs_at, output_count}; }
  /// How many outputs there are in front of dropped[i]; where there is no such one, all.
  std::uint32_t outputs_before(std::size_t i) const {
    return i == dropped.size() ? output_count : dropped[i].number - static_cast<std::uint32_t>(i);
  }
};

class slot_computation;

class block_ring final : public room_waiter, public std::enable_shared_from_this<block_ring> {
 public:
  struct limits {
    std::uint32_t slots = 1;
    std::uint64_t elements = ~std::uint64_t{0};
  };
  /// `ordered`: first in, first out; else as finished.
  block_ring(std::shared_ptr<run_context> run, channel_memory memory, const element_type& in, const element_type& out,
             limits l, bool ordered);
  ~block_ring();
  block_ring(const block_ring&) = delete;

  const std::shared_ptr<run_context>& run() const { return run_; }
  /// Is told whenever receive() has more to give, by which of its channels. Before the pump starts.
  void set_signal(std::shared_ptr<ready_signal> s, std::uint32_t number) {
    std::lock_guard lock(mutex_);  // a stop may come already
    signal_ = std::move(s);
    number_ = number;
  }

  // The pump's side.
  class reserve_awaiter;
  /// A free slot, and how many elements it may take; null: nobody reads any more.
  reserve_awaiter reserve();
  struct reservation {
    ring_slot* slot = nullptr;
    std::uint32_t elements = 0;
  };
  const channel_memory& memory() const { return memory_; }
  /// The slot's charge becomes what it really takes.
  void charge(ring_slot* s, std::size_t bytes);
  /// The slot was filled with `count` elements from ordinal `first` on, and is being computed.
  void filled(ring_slot* s, std::uint64_t first, std::uint32_t count);
  /// What computes slots, where something does. Before the pump starts.
  void set_computation(std::shared_ptr<const slot_computation> c) { computation_ = std::move(c); }
  const std::shared_ptr<const slot_computation>& computation() const { return computation_; }
  /// A computation has made outputs of so many bytes, and would make more, of about `next`: is there room in this slot? Outputs
  /// that turn out larger than was expected may take more memory as far as there is some, and a block's size at most.
  bool has_room(ring_slot* s, std::size_t bytes, std::size_t next);
  /// Only the first `count` inputs have been computed. The others are, in a round of their own, when the slot is released.
  void cut_short(ring_slot* s, std::uint32_t count);
  /// The outputs are in slot->output, or (computed = false) the inputs are the outputs. Returns true if the reader was waiting
  /// for this and has been resumed.
  bool commit(ring_slot* s, bool computed);
  /// The input's position before this slot.
  void note(ring_slot* s, mark m);
  /// No more slots: the end, or an error. The reserved one goes back; what it says is missed comes before the end.
  /// `not_passed`: of the elements that were to be passed over first, how many did not exist.
  void finish(ring_slot* unused, status why, std::uint64_t not_passed = 0);

  // The reader's side.
  class receive_awaiter;
  /// Ordered: the oldest slot. Unordered: a finished one, or the one whose next output is input ordinal `ordinal`.
  /// Null: over, why() says how; or no input has that ordinal.
  receive_awaiter receive(std::uint64_t ordinal = stream_base::kNone);
  /// The consumer is about to get `outputs` more of the slot: there is room for as many new ones, so that a channel
  /// of one already works on the second element while the consumer works on the first. The last ones are the
  /// consumer's, and no longer charged: an interleave moves them out and comes back to this channel much later.
  void hand_on(ring_slot* s, std::uint32_t outputs, bool last);
  /// The consumer needs nothing of the slot any more: it is free; or the rest of its inputs is computed now.
  void release(ring_slot* s);
  /// Would receive() give something now?
  bool ready(std::uint64_t ordinal = stream_base::kNone) const;
  status why() const {
    std::lock_guard lock(mutex_);  // a stop may come after the end
    return why_;
  }
  /// The reader waits for this channel, though not in receive(): one block goes on whatever the ledger says.
  void urge();
  /// Is a block on its way to the reader, or will be without another urge()?
  bool busy() const;
  std::uint64_t not_passed() const {
    std::lock_guard lock(mutex_);
    return not_passed_;
  }
  /// Errors behind the last slot. Once.
  dropped_errors missed_at_end() {
    std::lock_guard lock(mutex_);
    return std::exchange(missed_at_end_, dropped_errors());
  }
  /// The reader is gone: the pump drops its input and ends.
  void close();

  void set_limits(limits l);
  /// How long a block took to make, and what it holds; the next are sized by both.
  void made_in(duration took, std::uint32_t elements, std::size_t bytes);
  /// There may be memory again, says the ledger.
  void room_again() noexcept override;

  /// Unordered only: the reader repeats logged choices, and the next is input `ordinal`; kNone: no more of them. Until
  /// the pump has taken that input, more slots may be in flight than the limits allow.
  void replay(std::uint64_t ordinal);
  /// The lowest ordinal of an input that is not delivered yet, given that inputs from `next` on were not taken.
  std::uint64_t lowest_undelivered() const;
  /// Unordered only: where the input stood at the start, and the marks since, oldest first.
  void begin_at(std::uint64_t ordinal, mark m);
  std::vector<mark>& marks() { return marks_; }
  std::mutex& mutex() const { return mutex_; }

 private:
  /// May the pump fill one more slot? Charges what that is expected to take, once, until the pump takes the slot.
  /// Read-ahead has to fit into the budget together with everything else. What the reader waits for never waits for
  /// memory: where nothing is in flight and the reader waits here, one block goes on.
  bool grant();
  void give_back(std::size_t charged, std::size_t guessed);
  void wake_pump();
  void compute_rest(ring_slot* s);
  ring_slot* pick(std::uint64_t ordinal) const;
  /// pick() gives nothing, and never will: all is made, and (of a forged checkpoint) what is asked for was not in it.
  bool exhausted(std::uint64_t ordinal) const;
  /// While a choice is replayed: has the pump yet to take the input that was chosen?
  bool must_reach_choice() const { return chosen_ != stream_base::kNone && next_ <= chosen_; }
  /// More is in flight than any run could have had before the choice was made: the position was forged.
  bool choice_out_of_reach() const;
  std::uint32_t elements_for_one_slot() const;
  void wake(std::coroutine_handle<>& waiting);
  void stop() noexcept;

  std::shared_ptr<run_context> run_;
  const channel_memory memory_;
  const element_type& in_;
  const element_type& out_;
  const bool ordered_;
  std::shared_ptr<const slot_computation> computation_;

  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  limits limits_;
  std::vector<std::unique_ptr<ring_slot>> slots_;
  std::vector<ring_slot*> free_;
  std::vector<ring_slot*> order_;  // in flight; ordered rings: a queue from head_ on
  std::size_t head_ = 0;
  std::size_t handed_on_ = 0;  // slots of them that wait only for their release; ordered rings: 0 or 1, at head_
  std::uint64_t elements_in_flight_ = 0;
  std::uint64_t next_ = 0;                     // ordinal after the last input taken
  std::uint32_t block_elements_ = 1;           // how many a slot takes: grows while blocks are quick to make
  bool quick_ = false;                         // making a block takes less than a wake is worth
  std::uint64_t chosen_ = stream_base::kNone;  // the choice being replayed
  std::uint64_t not_passed_ = 0;
  dropped_errors missed_at_end_;
  bool urged_ = false;                   // the reader waits elsewhere for this channel
  bool asked_for_room_ = false;          // the ledger will call room_again()
  bool granted_ = false;                 // the pump may take a slot,
  std::size_t granted_bytes_ = 0;        // and this is charged for it,
  std::size_t granted_guess_bytes_ = 0;  // as a guess
  std::vector<mark> marks_;
  std::shared_ptr<ready_signal> signal_;
  std::uint32_t number_ = ready_signal::kNobody;  // of this channel among those of the signal
  bool closed_ = false;
  bool over_ = false;
  bool stopped_ = false;
  status why_;
  std::coroutine_handle<> pump_waits_;
  std::coroutine_handle<> reader_waits_;
  std::uint64_t reader_needs_ = stream_base::kNone;

  friend class reserve_awaiter;
  friend class receive_awaiter;
  struct stopper {
    block_ring* ring;
    void operator()() const noexcept { ring->stop(); }
  };
  std::optional<std::stop_callback<stopper>> on_stop_;
};

class [[nodiscard]] block_ring::reserve_awaiter {
 public:
  explicit reserve_awaiter(block_ring& r) noexcept : ring_(r) {}
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> h);
  reservation await_resume();

 private:
  block_ring& ring_;
};

class [[nodiscard]] block_ring::receive_awaiter {
 public:
  receive_awaiter(block_ring& r, std::uint64_t ordinal) noexcept : ring_(r), ordinal_(ordinal) {}
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> h);
  ring_slot* await_resume();

 private:
  block_ring& ring_;
  std::uint64_t ordinal_;
};

inline block_ring::reserve_awaiter block_ring::reserve() { return reserve_awaiter(*this); }
inline block_ring::receive_awaiter block_ring::receive(std::uint64_t ordinal) {
  return receive_awaiter(*this, ordinal);
}

}  // namespace sluice::lib
