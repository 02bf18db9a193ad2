// SPDX-License-Identifier: Apache-2.0
// The producing side of a stream: one coroutine frame, the demand it serves, the output it hands over.
//
// This is what both styles of stages have in common, and all that the stream above knows of either. A *block stage* (built-in
// operators: block_stage.hpp) yields whole views and keeps its place in saved values that are right at every co_yield. An
// *element stage* (users' coroutines: element_stage.hpp) yields one element at a time into a slab, is suspended only when
// demand is met, and can start again from its last resume point.
//
// The promise's constructor sees the coroutine's parameters and registers the ones that matter: streams are inputs,
// `saved<S>` is state, tags say what kind of stage it is. Operators therefore carry no line about positions.
//
// A request. The stream (stream_base::fill_now) writes skip_, want_, want_bytes_ and waiter, and calls serve(). The coroutine
//   runs until it has something to deliver, sets handed_ and resumes the waiter, which takes handed_ and leaves it empty. At
//   the end of the stream skip_ is the number of elements to pass over that did not exist. A stage that is over() is never
//   resumed again.
// Errors: between stages they do not throw (promise.hpp). On the way through a stage what it has made goes out first (flush).
//   An error of an element that is dropped goes up to where it is counted (dropped_errors.hpp; send_up() below).
// Who calls: public members: the lowering, before the first request, unless they say otherwise. The others: the stream above,
//   and the coroutine's own co_yields.
// Thread: whichever pulls; one at a time, since a stream has one consumer.
// Cost: no virtual call, lock or clock in serving a request. Virtual are the places passed once a mark or an error.
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

class stage_base : public promise_base {
 public:
  const element_type& type() const { return out_.type(); }
  bool over() const { return unusual_ & kOver; }
  /// Ended without an error.
  bool ended() const { return over() && failure.ok(); }
  /// Does it yield blocks? Otherwise it is an element_stage.
  bool yields_blocks() const { return yields_blocks_; }
  /// Could the next block have to wait for something outside this tree (a channel, a file, a timer)?
  bool may_wait() const { return !over() && (may_suspend_ || state_.may_wait()); }
  /// What makes its first input; null: it has none, or has moved it away.
  stage_base* input_stage() const;

  /// The stage's words for its errors; set once by the lowering. They are constant, or what keep() was given has them.
  void set_label(std::string_view label) { label_ = label; }
  std::string_view label() const { return label_; }
  /// Lives as long as the coroutine: the function it belongs to. What works ahead may outlive the stream, and so the plan.
  void keep(std::shared_ptr<const void> what);
  /// Sets by which site and version the stage finds its record in a position. Later calls are ignored: an operator whose
  /// stage is its input's (`take(-1)`) leaves it the identity of the input.
  void set_identity(const stage_identity& i) { state_.set_identity(i); }
  const stage_identity& known_as() const { return state_.identity(); }
  /// Makes set_identity() do nothing: for a stage that the library adds around another one, which has the record.
  void stay_nameless() { state_.stay_nameless(); }
  /// Sets the sink for errors of dropped elements that reach this stage: of the root of a run, and of the stage that a
  /// channel's pump pulls. The sink outlives the stage, or all requests on it.
  void set_error_sink(error_sink* s) { error_sink_ = s; }
  /// Sets the counters that the stage adds to; later calls are ignored. They live as long as the coroutine. A stage without
  /// counters adds its time to that of its consumer; if one node becomes several coroutines, only one of them has counters.
  void set_counts(stage_counts& c) {
    if (!counts_) counts_ = &c;
  }
  stage_counts* counts() const { return counts_; }
  /// Its coroutine, or a task that it awaits, has waited for something outside of this tree. On the stage's own thread, once
  /// the wait is over.
  void waited(duration took) {
    others_took_ += took;
    if (counts_) stage_counts::add(counts_->waits, counts_->waited_ns, took);
  }
  /// It was its own code that threw, not an input that failed.
  bool threw() const { return threw_; }

 protected:
  enum class yields : std::uint8_t { elements, blocks };
  stage_base(const element_type& type, yields what);
  ~stage_base();
  friend class stream_base;
  friend class erased_stream;

  /// Could the stream begin again (stream_base::begin_again)?
  bool can_begin_again() const noexcept;
  /// This stage and those upstream of it stand before their first elements. REQUIRES: can_begin_again().
  void begin_again();

  // What the next request on the stage must look at before it resumes the coroutine.
  enum : std::uint8_t {
    kOver = 1,         // ended or failed: the coroutine is never resumed again
    kErrorsAhead = 2,  // errors_ come before whatever is handed over next,
    kOneBehind = 4,    // and then one element that is made already: the last one of out_
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

  /// What is asked of the input where elements to be passed over have to be made first: enough of them at once to
  /// vectorise, cheap to over-ask.
  std::uint32_t wanted_and_passed() const {
    constexpr std::uint64_t kPassedPerBlock = 1024;
    constexpr std::uint32_t kWantMax = ~std::uint32_t{0};
    std::uint64_t both = want_ + (skip_ < kPassedPerBlock ? skip_ : kPassedPerBlock);
    return both < kWantMax ? static_cast<std::uint32_t>(both) : kWantMax;
  }

  /// Serves {skip_, want_}. Returns whom to resume.
  std::coroutine_handle<> serve() { return yields_blocks_ ? self : serve_elements(); }
  std::coroutine_handle<> serve_elements();

  /// Where this stage, having handed over `made` elements, and those below it stand. At rest.
  virtual mark snapshot(std::uint64_t made) = 0;
  /// It stands where its input stands, and has no record.
  virtual bool follows_input() const { return false; }
  /// Before the first request: as stage_state::restore().
  std::uint64_t restore(const position_record* own, position_records& from) {
    return state_.restore(own, from, label_);
  }

  // Errors of elements that are dropped (dropped_errors.hpp).

  /// This stage, whose coroutine `me` is running, drops elements because of `errors`. Returns whom to resume: `me`,
  /// unless there were too many.
  std::coroutine_handle<> drop_elements(std::coroutine_handle<> me, dropped_errors& errors);
  /// Moves the error from this stage, which is running, up to whoever counts it, or to the first stage on the way whose
  /// output comes before it and is not handed over yet. All stages on the way wait for this one. Returns what the stream
  /// has to end with where there were too many.
  status send_up(dropped_error e);
  /// Has it made output since the last request that is not handed over?
  virtual bool has_output() const = 0;
  /// Keeps the error in errors_, behind that output.
  virtual void keep_for_later(dropped_error e);
  /// That output has been taken, and the stage is asked again: moves errors_ up. Returns what the stage has to end with.
  status send_up_later_errors() noexcept;

  void end() noexcept { unusual_ |= kOver; }
  /// A step of passing over elements is done, and nothing is handed over. Returns `me`; or, every 2 ms, gives way to
  /// others; or, after a stop, ends the stage.
  std::coroutine_handle<> go_on(std::coroutine_handle<> me) { return turn_.step() ? look_around(me) : me; }
  std::coroutine_handle<> look_around(std::coroutine_handle<> me);
  /// `at`: the input element that the coroutine was at, for its error.
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
  bool sampled_ = false;                    // what is being served is timed
  const std::atomic<std::uint32_t>* tick_;  // env's, once known
  block handed_{};                          // handed over and not yet taken up by the cursor above
  slab out_;                                // room for elements that the stage makes itself
  std::uint64_t* rest_count_ = nullptr;     // while rests_at_end_: the saved value that begins at 0 again; or null

  stage_state state_;
  turn turn_;  // of passing over; where elements are handed over, the consumer's stream looks at the clock
  error_sink* error_sink_ = nullptr;
  dropped_errors errors_;  // they follow the output made already, and precede that still to be made
  stage_counts* counts_ = nullptr;
  duration others_took_{};  // while sampled_: waits, and what its inputs took
  std::string_view label_;
  std::shared_ptr<const void> kept_;
};

}  // namespace sluice::lib
