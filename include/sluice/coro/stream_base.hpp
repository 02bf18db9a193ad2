// SPDX-License-Identifier: Apache-2.0
// The consumer's end of a stream, for elements of any type. It owns the frame of the stage that makes the elements,
// requests blocks from that stage, and has a cursor into the block delivered last. The derived classes stream<T>
// (stream.hpp) and erased_stream add typed and untyped access to the elements.
//
// Requests. The consumer calls an awaitable member of a derived class, which calls ask(). If elements are left in the
// current view, the request is ready at once. Otherwise it is a *fill*: the stream writes the demand into the stage's
// promise and resumes the stage's coroutine directly, on the consumer's thread. When the stage has made a block, has
// ended or has failed, it resumes the consumer, which makes the block its new view (set_view).
//   Invariant: at most one request is outstanding. A second request by a task is a mistake and throws
//   failed_precondition.
//
// Rest. A stream is at rest while no request on it is outstanding. Then no coroutine of the tree upstream is running,
// except tasks upstream of channels, and the consumer may read positions, restore them and destroy the tree,
// synchronously and without locks.
//
// Ordinals. Elements are numbered from 0. Skipped elements count:
//   consumed()   the ordinal of the next element
//   fetched_     the ordinal after the current view: consumed() + left(), if no elements remain to be skipped
//
// Marks. A consumer that may need the position at an element before the current one (it holds elements, or its view is
// not used up) calls may_go_back() or hold_from(). The stream then keeps *marks*, which are positions recorded earlier:
//   - one before each of its first two fills, and one before a fill whenever the run's tick has changed;
//   - no mark older than needed for the ordinal given to hold_from(), and at most 16, spread between that ordinal and
//     now.
// The mark before the second fill makes the next resume cheap. A restored stream needs it: its first mark is still the
// restored one, and a resume from there would make the elements between that mark and the restored position again.
//
// Looks. A stream reads the clock every 64 fills (the root of a run: every 32), or every 500 µs if fills are slow
// (coro/detail/turn.hpp). This look requests marks if they are due, lets other coroutines of the worker run if this one
// has worked for 2 ms without a pause, and adds the stream's counters to those of the stage. Each look of a run's root
// also requests marks, even if none is due by time, while recording them takes less than 1 % of the time. The first 16
// looks request them at any cost.
//
// Thread: one consumer at a time, which may move from thread to thread between requests. at_rest() may be called on any
//         thread.
// Owns:   the stage's coroutine frame, and through its parameters all stages upstream; the root also shares ownership
//         of the run.
#pragma once

#include <memory>
#include <vector>

#include "sluice/base/assert.hpp"
#include "sluice/coro/block_stage.hpp"
#include "sluice/coro/checkpoint.hpp"
#include "sluice/coro/detail/consumer_meter.hpp"

namespace sluice::lib {

class stream_base;

/// The part of a run that its root stream shares ownership of: the plan, the environment, the tasks that work ahead.
/// pipeline/iterate.hpp implements it. Only the root has one.
class run_base {
 public:
  virtual ~run_base() = default;
  /// Stops the run: every wait in it fails with `cancelled`. Thread: any. May be called several times.
  virtual void request_stop() noexcept = 0;
  /// Returns `position`, which is the root's, together with everything that a resumed run compares: the plan's
  /// fingerprint, the identities of its functions, the inputs seen.
  virtual std::string seal(std::string position) const = 0;
  /// Calls `done(argument)` once, on any thread, when the run has no live task.
  virtual void when_drained(void (*done)(void*) noexcept, void* argument) noexcept = 0;
  /// Called when a root whose tree is lent (pipeline/loan.hpp) is moved to the object `to`, or destroyed (null).
  virtual void owner_moved(stream_base* to) noexcept { (void)to; }
  /// The waits of the consumer.
  consumer_meter consumer;
};

/// Decides when a channel, which keeps marks by itself, records one.
class mark_watch {
 public:
  /// Returns true for the first two calls, and whenever the tick has changed since the last call that returned true.
  bool due(const environment& env) {
    std::uint32_t t = env.tick.load(std::memory_order_relaxed);
    if (early_ == 0 && t == seen_) return false;
    if (early_) --early_;
    seen_ = t;
    return true;
  }

 private:
  std::uint32_t seen_ = 0;
  std::uint32_t early_ = 2;
};

class stream_base {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  /// An empty stream: it has no stage, and every request on it throws failed_precondition.
  stream_base() noexcept;
  /// Takes ownership of the coroutine whose promise is `child`.
  explicit stream_base(stage_base* child) noexcept;
  stream_base(stream_base&& other) noexcept;
  stream_base& operator=(stream_base&& other) noexcept;
  ~stream_base();

  /// Returns true unless the stream is empty: never given a stage, moved from, or closed.
  explicit operator bool() const { return child_ != nullptr; }
  const element_type& type() const { return child_->type(); }
  stage_base* stage() const { return child_; }

  /// Stops the run, if this is its root, and destroys the stage and all stages upstream of it. The stream is empty
  /// afterwards. Does not block: tasks that work ahead may end later. REQUIRES: at rest.
  void close() noexcept;
  /// Throws failed_precondition while a task's request is outstanding; `what` names the call that is not allowed then.
  void require_rest(const char* what) const;
  [[noreturn]] static void refuse_two_consumers(const char* what);

  /// The ordinal of the next element: the number of elements consumed or skipped since the beginning of the stream, in
  /// this run and in the runs that it was resumed from.
  std::uint64_t consumed() const { return fetched_ + todo_ - left(); }
  /// The number of elements of the current view that are not consumed yet.
  std::uint32_t left() const {
    return cur_ == end_ ? 0 : static_cast<std::uint32_t>(static_cast<std::size_t>(end_ - cur_) / element_bytes_);
  }
  /// After the end: how many of the elements that the last request wanted to skip did not exist. A stage returns this
  /// number to its own consumer (outlet::unpass).
  std::uint64_t skip_left() const { return child_->skip_; }
  /// The next request skips n elements more than its demand states.
  void pass_over(std::uint64_t n) { todo_ += n; }
  /// Keeps marks from now on: the owner may ask for the position at an element of the current view.
  void may_go_back() { keep_marks(); }
  /// Keeps a mark at or before `ordinal` from now on: the owner holds elements from `ordinal` on, and a resume from a
  /// position must be able to make them again. REQUIRES: marks were kept when that element was fetched.
  void hold_from(std::uint64_t ordinal) {
    keep_marks();
    floor_ = ordinal;
  }
  /// Restarts the stream at ordinal 0, for a new sequence of elements, if all its stages support it (outlet::again).
  /// Returns false, and changes nothing, if they do not; the caller must then open the stream again.
  /// REQUIRES: at rest. The stream was opened at its start, and has no logs.
  /// Cost: some ten nanoseconds per stage, and no allocation.
  bool begin_again();
  /// Returns true if the next request may wait for something outside of the tree. A stage then delivers what it has
  /// made before it makes the request.
  bool may_wait() const { return cur_ == end_ && child_->may_wait(); }

  // All position functions REQUIRE that the stream is at rest. Errors: failed_precondition: the stream is empty, or a
  // request is outstanding; data_loss: the ordinal has no mark, which only a forged checkpoint can cause.

  /// Writes the position from which the next element, or the oldest held one, is made again.
  void position(position_writer& w) { position_at(consumed() < floor_ ? consumed() : floor_, w); }
  /// Writes the position from which the element `ordinal` is made again.
  void position_at(std::uint64_t ordinal, position_writer& w);
  /// The result of position(), sealed for users: it also identifies the run's plan (checkpoint.hpp).
  checkpoint sealed_position();
  /// The result of position(), as a mark.
  mark place() { return place_at(std::min(consumed(), floor_)); }
  mark place_at(std::uint64_t ordinal);
  /// Puts the tree at the position that `from` contains: each stage claims its record. REQUIRES: nothing was requested
  /// yet. Errors are kept in `from` (position_records::finish).
  void restore(position_records& from);
  /// Counts ordinals from `ordinal` on. REQUIRES: nothing was requested yet.
  void begin_at(std::uint64_t ordinal) {
    SLUICE_REQUIRES(cur_ == end_ && seen_tick_ == kNeverSeen, "the stream was requested from");
    fetched_ = counted_ = ordinal;
  }
  /// Records a mark of this moment. REQUIRES: at rest, and left() == 0.
  mark take_mark() {
    SLUICE_REQUIRES(left() == 0, "elements of the view are left");
    mark m = child_->snapshot(fetched_);
    if (child_->absent_) [[unlikely]]
      add_absent_records(m);
    return m;
  }
  /// Returns false if a stage whose state a mark of this moment contains has failed. Such a stage may have read elements
  /// beyond the bad one, so the position of an earlier mark is used. Inputs that keep marks of their own do not count.
  bool has_consistent_state() const;
  /// Calls take_mark() for a mark that the tick requested, and adds its time to environment::marks_took.
  mark take_due_mark();

  /// Gives the stage its environment, which it gives to its inputs at their first request. Without this call the stage
  /// inherits the environment of its first consumer. REQUIRES: no request was made yet.
  void set_environment(environment* env) {
    child_->env = env;
    child_->tick_ = &env->tick;
  }
  /// Makes this the root of a run.
  void set_run(std::shared_ptr<run_base> run);
  /// Returns true while no task's request is outstanding. Thread: any.
  bool at_rest() const { return !asked_.load(std::memory_order_relaxed); }
  /// Adds the counters of this stream and of all streams upstream, up to the next channels, to those of their stages.
  /// Otherwise this happens at looks. REQUIRES: at rest.
  void flush_all_counts() const noexcept;
  /// Calls `enter(context, stage)` for the stage of this stream; if it returns true, does the same for its inputs.
  /// REQUIRES: nothing was requested yet.
  void visit_stages(bool (*enter)(void* context, stage_base& stage), void* context) const;
  /// Starts or stops timing a block now and then (stage_counts.hpp). Called for the root of a run, and for the stream
  /// that a pump requests from.
  void take_samples(bool now_and_then = true) { takes_samples_ = now_and_then; }
  run_base* run() const { return run_.get(); }
  const std::shared_ptr<run_base>& shared_run() const { return run_; }

 protected:
  friend class element_stage;
  friend class stage_base;
  friend class stage_state;
  template <class S> friend class saved;

  /// The await_suspend of every request: starts a fill for the awaiting coroutine, whose promise is `p`. Returns the
  /// coroutine to resume. The request's demand is in request_skip_, request_want_ and request_bytes_.
  template <class Promise> std::coroutine_handle<> ask(Promise& p) {
    if constexpr (requires { Promise::kBlockStage; }) return ask_from_block_stage(p);
    else if constexpr (requires { Promise::kElementStage; }) return p.ask_input(*this);
    else {
      static_assert(std::is_base_of_v<promise_base, Promise>,
                    "sluice: a stream is awaited from a task or a stage; elsewhere (asio) use async_next(token)");
      return ask_from_task(p);
    }
  }
  std::coroutine_handle<> ask_from_block_stage(block_stage& p) {
    std::uint64_t skip = request_skip_;
    request_skip_ = 0;
    forwarded_ = nullptr;
    if (p.one_to_one_ && p.skip_) {
      skip += p.skip_;
      p.skip_ = 0;
      forwarded_ = &p;
    }
    if (p.sample_weight_) [[unlikely]]
      begin_sample(p.env, p.sample_weight_);
    return fill(&p, skip, request_want_);
  }
  std::coroutine_handle<> ask_from_task(promise_base& p);
  /// Throws failed_precondition if the stream was moved from, closed or never given a stage.
  void check_not_empty() const;

  /// Requests a block from the stage for `owner`, the coroutine to resume with the block. Inline for the usual case:
  /// the tick has not changed, no look is due, and the stage is in no unusual state.
  std::coroutine_handle<> fill(promise_base* owner, std::uint64_t skip, std::uint32_t want) {
    stage_base* c = child_;
    if (c->unusual_ || c->tick_->load(std::memory_order_relaxed) != seen_tick_ || turn_.step()) [[unlikely]]
      return fill_with_a_look(owner, skip, want);
    return fill_now(owner, skip, want);
  }
  std::coroutine_handle<> fill_now(promise_base* owner, std::uint64_t skip, std::uint32_t want) {
    stage_base* c = child_;
    c->skip_ = asked_skip_ = skip + todo_;
    todo_ = 0;
    c->want_ = want < want_max_ ? want : want_max_;
    c->want_bytes_ = request_bytes_;
    c->waiter = owner;
    return c->serve();
  }
  /// Handles the other cases: the first fill, a changed tick (marks, a stop), errors of dropped elements that must be
  /// counted first, a stage that has ended, and a look at the clock that is due.
  std::coroutine_handle<> fill_with_a_look(promise_base* owner, std::uint64_t skip, std::uint32_t want);
  /// Looks at the clock. Returns true if this stream's turn is over, so that other coroutines should run first.
  bool look(std::uint32_t want);
  /// Destroys the marks that are not needed any more, and records a new one.
  void renew_marks();
  /// Answers a request on a stage that has ended or failed. After a stop the request fails. Other coroutines run from
  /// time to time, because a consumer may request in a loop.
  std::coroutine_handle<> requested_after_end(promise_base* owner, std::uint64_t skip);
  std::coroutine_handle<> over_without_filling(promise_base* owner, std::uint64_t skip);

  /// After a fill: makes the block that the stage has delivered the current view.
  void set_view() {
    stage_base* c = child_;
    if (!c->handed_.size()) [[unlikely]]
      return set_no_view();
    cur_ = c->handed_.data();
    end_ = cur_ + std::size_t{c->handed_.size()} * element_bytes_;
    took_up(c->handed_.size());
    view_owner_ = c->handed_.owner();
    c->handed_ = block{};
  }
  /// Counts n delivered elements, and the elements that were skipped before them.
  void took_up(std::uint32_t n) {
    took_up_passed();
    fetched_ += n;
    ++blocks_;
    if (child_->sample_weight_) [[unlikely]]
      end_sample(n);
  }
  void took_up_passed() {
    std::uint64_t passed = asked_skip_ - child_->skip_;
    if (passed == 0) [[likely]]
      return;
    fetched_ += passed;
    passed_ += passed;
    asked_skip_ = child_->skip_;
  }
  /// Called at looks: draws the fill of the next interval that is timed, if one is.
  void plan_sample();
  /// Starts the clock of a sample: the next fill is timed, and stands for `weight` fills.
  void begin_sample(const environment* env, std::uint32_t weight);
  /// Posts `next`, the coroutine of a fill, behind others. The time until it is resumed does not count as its work.
  void post_behind_others(std::coroutine_handle<> next);
  /// Ends the sample: the fill has delivered n elements, which are in child_->handed_.
  void end_sample(std::uint32_t n);
  /// Adds what this stream has counted since the last call to the counters of the stage.
  void flush_counts() const noexcept;
  void set_no_view();
  /// After a fill for a task that delivered no element: throws the stage's error, if it has failed.
  void throw_if_failed() const;
  /// After a fill for a task: the stream is at rest again.
  void came_to_rest() {
    asked_.store(false, std::memory_order_relaxed);
    if (run_ && run_->consumer.is_timed()) [[unlikely]]
      end_consumer_wait();
  }
  void end_consumer_wait();
  /// came_to_rest(), and adapts the number of elements that the next next() demands,
  /// so that a fill takes some 100 µs.
  void end_task_fill();

  std::uint64_t ordinal_at(const char* cursor) const {
    return fetched_ + todo_ - static_cast<std::size_t>(end_ - cursor) / element_bytes_;
  }
  void keep_marks();
  /// Makes `m`, a mark of the stage, one of the last absent stage downstream of it (coro/positions/absent_stage.hpp).
  void add_absent_records(mark& m) const;
  /// Restores the first `absent` absent stages, and the stage that they follow.
  void restore_absent(std::size_t absent, position_records& from);
  void restore_stage(position_records& from);
  /// Resets this stream, but not its stage, to its state before the first request.
  void forget_requests();
  /// The newest mark from which the element `ordinal` can be made again. Null if the stage's current state serves.
  const mark* mark_for(std::uint64_t ordinal) const;

  static constexpr std::uint32_t kNeverSeen = ~0u;  // differs from every tick that a run begins with

  stage_base* child_ = nullptr;
  char* cur_ = nullptr;
  char* end_ = nullptr;
  std::uint32_t element_bytes_ = 1;
  std::uint32_t request_want_ = 1;
  std::uint64_t request_skip_ = 0;
  std::uint32_t request_bytes_ = demand::kBytes;
  std::uint32_t seen_tick_ = kNeverSeen;  // differs at the first fill, so that the first fill looks
  std::uint64_t fetched_ = 0;             // ordinal after the current view
  std::uint64_t todo_ = 0;                // elements that the next request skips in addition to its demand
  std::uint64_t asked_skip_ = 0;          // elements to skip of the last request, not counted in fetched_ yet
  stage_base* forwarded_ = nullptr;       // a 1:1 stage that has added its own demand's skip to our request
  slab* view_owner_ = nullptr;            // the slab of the current view
  bool keep_ = false;                     // marks are kept
  bool has_begun_again_ = false;          // its counters are flushed at looks and when it closes
  bool takes_samples_ = false;
  std::uint8_t samples_ = 0;          // looks; the seed of the draws of samples
  std::uint16_t planned_weight_ = 0;  // of the sample that is due when the turn pauses
  mutable std::uint32_t blocks_ = 0;  // delivered since the last flush_counts()
  turn turn_;
  std::uint32_t want_max_ = ~0u;  // limits demands, so that a block takes some 10 ms at most and a stop is noticed soon
  std::uint32_t looks_ = 0;       // a root's, up to kEarlyLooks
  std::uint64_t floor_ = kNone;   // the owner holds elements from this ordinal on
  std::vector<mark> marks_;       // oldest first

  // Rarely used counters, for flush_counts().
  mutable std::uint64_t counted_ = 0;         // fetched_ at the last flush_counts()
  mutable std::uint64_t passed_ = 0;          // elements skipped since then
  mutable std::uint64_t sampled_passed_ = 0;  // passed_ when the sample began
  time_point sampled_at_{};

  // Used only if the consumer is a task.
  std::shared_ptr<run_base> run_;
  std::uint32_t ramp_ = 1;  // the number of elements that next() demands
  /// A task's request is outstanding. Atomic, because a second consumer, which is a mistake, may run on another thread:
  /// it then gets an error instead of undefined behavior. Relaxed, since it publishes no other data.
  std::atomic<bool> asked_{false};
  time_point asked_at_{};
};

}  // namespace sluice::lib
