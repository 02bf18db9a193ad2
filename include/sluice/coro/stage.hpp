// SPDX-License-Identifier: Apache-2.0
// The producing side of a stream: one coroutine frame, the demand that it serves, and the output that it delivers.
//
// This is the common part of both styles of stages. The stream downstream knows no more of a stage than this class. A
// *block stage* (built-in operators: block_stage.hpp) yields whole views and keeps its state in saved values that are
// right at every co_yield. An *element stage* (users' coroutines: element_stage.hpp) yields one element at a time into
// a slab, suspends only when demand is met, and can start again from its last resume point.
//
// The promise's constructor receives the coroutine's parameters and registers those that matter: streams are inputs,
// `saved<S>` is state, tags determine the kind of stage. Therefore operators need no code for positions.
//
// A request. The stream (stream_base::fill_now) writes skip_, want_, want_bytes_ and waiter, and calls serve(). The
// coroutine runs until it has something to deliver, sets handed_ and resumes the waiter, which empties handed_. At the
// end of the stream skip_ is the number of elements to skip that did not exist. A stage that is over() is never resumed
// again.
// Errors: errors do not throw between stages (promise.hpp). Before an error passes through a stage, the stage delivers
//         what it has made (flush). The error of a dropped element moves downstream to the place where it is counted
//         (dropped_errors.hpp; send_up() below).
// Callers: the lowering calls the public members before the first request, unless they state otherwise. The stream
//   downstream and the coroutine's own co_yields call the others.
// Thread: the thread that makes the request; one at a time, since a stream has one consumer.
// Cost:   serving a request needs no virtual call, lock or clock. The functions called once per mark or per error are
//         virtual.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "sluice/coro/demand.hpp"
#include "sluice/coro/detail/promise.hpp"
#include "sluice/coro/detail/stage_state.hpp"
#include "sluice/coro/detail/stage_tags.hpp"
#include "sluice/coro/detail/turn.hpp"
#include "sluice/coro/dropped_errors.hpp"
#include "sluice/coro/stage_counts.hpp"
#include "sluice/element/slab.hpp"

namespace sluice::lib {

class absent_stage;   // coro/positions/absent_stage.hpp
class absent_stages;  // the same

class stage_base : public promise_base {
 public:
  const element_type& type() const { return out_.type(); }
  bool over() const { return unusual_ & kOver; }
  /// Returns true if the stage has ended without an error.
  bool ended() const { return over() && failure.ok(); }
  /// Returns true if the stage yields blocks. Otherwise it is an element_stage.
  bool yields_blocks() const { return yields_blocks_; }
  /// Returns true if the next block may wait for something outside this tree (a channel, a file, a timer).
  bool may_wait() const { return !over() && (may_suspend_ || state_.may_wait()); }
  /// The stage that makes its first input; null if it has no input, or has moved it away.
  stage_base* input_stage() const;

  /// Sets the stage's name in errors; called once by the lowering. The text is a constant, or keep() owns it.
  void set_label(std::string_view label) { label_ = label; }
  std::string_view label() const { return label_; }
  /// Keeps `what` alive as long as the coroutine: the function that it calls. Tasks that work ahead may outlive the
  /// stream, and so the plan.
  void keep(std::shared_ptr<const void> what);
  /// Sets the site and version by which the stage finds its record in a position. Later calls are ignored: an operator
  /// that returns its input's stage (`take(-1)`) leaves it the identity of the input.
  void set_identity(const stage_identity& i) { state_.set_identity(i); }
  const stage_identity& known_as() const { return state_.identity(); }
  /// Makes set_identity() do nothing: for a stage that the library adds around another stage, which has the record.
  void stay_nameless() { state_.stay_nameless(); }
  /// Adds a stage of the written plan that a rewrite has removed downstream of this one, and of those added before.
  /// Positions contain its record. REQUIRES: no position was taken or restored.
  void add_absent(std::unique_ptr<absent_stage> stage);
  /// Sets the sink for errors of dropped elements that reach this stage: the root of a run, or the stage that a
  /// channel's pump requests from. REQUIRES: the sink outlives the stage, or all requests on it.
  void set_error_sink(error_sink* s) { error_sink_ = s; }
  /// Sets the counters that the stage adds to; later calls are ignored. They live as long as the coroutine. A stage
  /// without counters adds its time to that of its consumer. If one node becomes several coroutines, only one of them
  /// has counters.
  void set_counts(stage_counts& c) {
    if (!counts_) counts_ = &c;
  }
  stage_counts* counts() const { return counts_; }
  /// Counts a wait of the coroutine, or of a task that it awaits, for something outside of this tree. Called on the
  /// stage's own thread after the wait.
  void waited(duration took, wait_reason why) {
    others_took_ += took;
    if (counts_) counts_->add_wait(why, took);
  }
  /// Returns true if the stage's own code threw; false if an input failed.
  bool threw() const { return threw_; }

 protected:
  enum class yields : std::uint8_t { elements, blocks };
  stage_base(const element_type& type, yields what);
  ~stage_base();
  friend class stream_base;
  friend class erased_stream;

  /// Returns true if the stream can begin again (stream_base::begin_again).
  bool can_begin_again() const noexcept;
  /// Resets this stage and the stages upstream to their state before the first element. REQUIRES: can_begin_again().
  void begin_again();

  // Conditions that the next request on the stage checks before it resumes the coroutine.
  enum : std::uint8_t {
    kOver = 1,         // ended or failed: the coroutine is never resumed again
    kErrorsAhead = 2,  // errors_ precede the next delivery
    kOneBehind = 4,    // after these errors comes one element that is already made: the last one of out_
  };

  /// REQUIRES: the coroutine has these parameters, and no others.
  template <class... A> static constexpr void check_parameters() {
    static_assert(
        !(false || ... || std::is_same_v<A, one_to_one>) ||
            ((0 + ... + std::is_base_of_v<stream_base, A>) <= 1 && !(false || ... || detail::holds_inputs<A>)),
        "sluice: a stage with the tag one_to_one has one stream as a parameter: of two, each output would count "
        "as an element of either");
    static_assert((0 + ... + std::is_base_of_v<saved_base, A>) <= stage_state::kSavedMax,
                  "sluice: a stage has at most 4 saved<S> as parameters; put what they hold into one struct");
  }
  template <class A> void register_parameter(A& a, element_stage* committing) {
    if constexpr (std::is_same_v<A, may_suspend>) may_suspend_ = true;
    else state_.add(a, committing);
  }

  /// The number of elements to request from the input if skipped elements must be made first. A large number allows
  /// vectorized work; requesting too many costs little.
  std::uint32_t wanted_and_passed() const {
    constexpr std::uint64_t kPassedPerBlock = 1024;
    constexpr std::uint32_t kWantMax = ~std::uint32_t{0};
    std::uint64_t both = want_ + (skip_ < kPassedPerBlock ? skip_ : kPassedPerBlock);
    return both < kWantMax ? static_cast<std::uint32_t>(both) : kWantMax;
  }

  /// Serves {skip_, want_}. Returns the coroutine to resume.
  std::coroutine_handle<> serve() { return yields_blocks_ ? self : serve_elements(); }
  std::coroutine_handle<> serve_elements();

  /// The position of this stage, after it delivered `made` elements, and of the stages upstream. REQUIRES: at rest.
  virtual mark snapshot(std::uint64_t made) = 0;
  /// Returns true if the stage has the position of its input, and no record of its own.
  virtual bool follows_input() const { return false; }
  /// Before the first request: stage_state::restore().
  std::uint64_t restore(const position_record* own, position_records& from) {
    return state_.restore(own, from, label_);
  }

  // Errors of elements that are dropped (dropped_errors.hpp).

  /// Drops elements of this stage because of `errors`; its coroutine `me` is running. Returns the coroutine to resume:
  /// `me`, unless too many elements were dropped.
  std::coroutine_handle<> drop_elements(std::coroutine_handle<> me, dropped_errors& errors);
  /// Moves the error from this stage, which is running, downstream to the sink that counts it. If a stage on the way
  /// has output that comes before the error and is not delivered yet, that stage keeps the error. All stages on the way
  /// wait for this one. Returns the status that the stream must end with if too many elements were dropped.
  status send_up(dropped_error e);
  /// Returns true if the stage has made output since the last request that is not delivered yet.
  virtual bool has_output() const = 0;
  /// Keeps the error in errors_, after that output.
  virtual void keep_for_later(dropped_error e);
  /// Moves errors_ downstream after that output has been taken. Returns the status that the stage must end with.
  status send_up_later_errors() noexcept;

  void end() noexcept { unusual_ |= kOver; }
  /// Called after a step that skipped elements and delivered nothing. Returns `me`. Every 2 ms it lets other coroutines
  /// run first; after a stop it ends the stage.
  std::coroutine_handle<> go_on(std::coroutine_handle<> me) { return turn_.step() ? look_around(me) : me; }
  std::coroutine_handle<> look_around(std::coroutine_handle<> me);
  /// `at`: the input element that the coroutine was processing, for its error.
  void fail_with_current_exception(std::uint64_t at) noexcept;

  // The demand being served.
  std::uint64_t skip_ = 0;
  std::uint32_t want_ = 0;
  std::uint32_t want_bytes_ = demand::kBytes;
  std::uint8_t unusual_ = 0;
  const bool yields_blocks_;
  bool may_suspend_ = false;
  bool threw_ = false;
  bool rests_at_end_ = false;               // its coroutine waits at its end (outlet::again)
  std::uint32_t sample_weight_ = 0;         // the current request is timed, and stands for this number; 0: not timed
  const std::atomic<std::uint32_t>* tick_;  // env's, once known
  block handed_{};                          // delivered, and not yet taken by the stream downstream
  slab out_;                                // room for elements that the stage makes itself
  // While rests_at_end_: the saved value that is set to 0 when the stream begins again; may be null.
  std::uint64_t* rest_count_ = nullptr;

  stage_state state_;
  turn turn_;  // for skipping; for delivered elements the consumer's stream looks at the clock
  error_sink* error_sink_ = nullptr;
  dropped_errors errors_;  // they follow the output already made, and precede the output still to be made
  stage_counts* counts_ = nullptr;
  absent_stages* absent_ = nullptr;  // owned; null: none
  duration others_took_{};           // while a request is timed: waits, and the time of its inputs
  std::size_t input_bytes_ = 0;      // while a request is timed: the memory of what its inputs have delivered
  std::string_view label_;
  std::shared_ptr<const void> kept_;
};

}  // namespace sluice::lib
