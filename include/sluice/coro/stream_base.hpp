// SPDX-License-Identifier: Apache-2.0
// The consuming side of a stream: owner of a stage's frame, and cursor over the view it handed over last.
//
// Rest: a stream is at rest when no request on it is outstanding. Whoever is about to pull knows that, so positions,
// restore and destruction happen on the consumer's side, synchronously, and only at rest.
//
// Marks: a consumer that may have to go back (it still holds payloads, or has leftovers of a view) keeps positions of a
// moment ago: one before each of its first two fills, and one before a fill whenever the run's tick has changed. It says
// from which ordinal it still holds payloads (`hold_from`); older marks are dropped, and of the others it keeps a few,
// spread over what is held. The second fill's mark is what makes a resume short again: the first one's, of a stream
// that was restored, still counts the elements that the restored position was away from its own mark.
//
// Looks: every stream looks at the clock now and then (every 64 fills, or every 500 µs where fills are slow). A look
// asks for marks that are due, and lets other coroutines run when this stream has worked for 2 ms without a look at
// the scheduler: a pipeline that never waits shares its worker with others. The root's looks also ask for marks by
// number, every 32 blocks, as long as marks take less than 1 % of the time.
#pragma once

#include <memory>
#include <vector>

#include "sluice/base/assert.hpp"
#include "sluice/coro/block_stage.hpp"
#include "sluice/coro/checkpoint.hpp"

namespace sluice::lib {

class stream_base;

/// What a run's root stream keeps alive: the plan, the environment, whatever works ahead. See pipeline/iterate.hpp.
class run_base {
 public:
  virtual ~run_base() = default;
  virtual void request_stop() noexcept = 0;
  /// Wraps a root position so that it can be told from another plan's.
  virtual std::string seal(std::string position) const = 0;
  /// Calls `done` (any thread) once nothing of the run is alive but its root.
  virtual void when_drained(void (*done)(void*) noexcept, void* argument) noexcept = 0;
  /// For a stream whose tree is lent to somebody (pipeline/loan.hpp): it is `to` from now on, or null: it is gone.
  virtual void owner_moved(stream_base* to) noexcept { (void)to; }
};

/// Tells a keeper of marks of its own (a channel) when to take one: the first two times, and whenever the tick changes.
class mark_watch {
 public:
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

  stream_base() = default;
  explicit stream_base(stage_base* child)
      : child_(child), element_bytes_(static_cast<std::uint32_t>(child->type().size)) {}
  stream_base(stream_base&& other) noexcept;
  stream_base& operator=(stream_base&& other) noexcept;
  ~stream_base() { close(); }

  explicit operator bool() const { return child_ != nullptr; }
  const element_type& type() const { return child_->type(); }
  stage_base* stage() const { return child_; }

  /// Destroys the tree below. Only at rest.
  void close() noexcept;
  /// Throws failed_precondition while a task's request is outstanding; `what` is what must not be done then.
  void require_rest(const char* what) const;
  [[noreturn]] static void refuse_two_consumers(const char* what);

  /// Ordinal of the next element: how many were delivered or passed over since the stream's very beginning.
  std::uint64_t consumed() const { return fetched_ + todo_ - left(); }
  /// Elements of the current view not yet taken.
  std::uint32_t left() const {
    return cur_ == end_ ? 0 : static_cast<std::uint32_t>(static_cast<std::size_t>(end_ - cur_) / element_bytes_);
  }
  /// After the end: how many of the elements to be passed over did not exist.
  std::uint64_t skip_left() const { return child_->skip_; }
  /// Passes over n more elements with the next request.
  void pass_over(std::uint64_t n) { todo_ += n; }
  void may_go_back() { keep_marks(); }
  /// The owner still holds payloads from `ordinal` on: keep a mark at or before it. kNone: holds nothing.
  void hold_from(std::uint64_t ordinal) {
    keep_marks();
    floor_ = ordinal;
  }
  /// The owner holds nothing: only marks before what it has taken matter.
  void hold_nothing() { floor_ = kNone; }
  bool may_wait() const { return cur_ == end_ && child_->may_wait(); }

  /// The position from which the next element (or the oldest still held) is made again.
  void position(position_writer& w) { position_at(consumed() < floor_ ? consumed() : floor_, w); }
  void position_at(std::uint64_t ordinal, position_writer& w);
  /// The same for users: with what tells the run's plan from another one's.
  checkpoint sealed_position();
  /// The same as a mark.
  mark place() { return place_at(std::min(consumed(), floor_)); }
  mark place_at(std::uint64_t ordinal);
  /// Before the first request: the stages take their records out of a position's.
  void restore(position_records& from);
  /// Before the first request: counts from `ordinal` on.
  void begin_at(std::uint64_t ordinal) { fetched_ = counted_ = ordinal; }
  /// A mark of here and now; the stream must have no leftovers.
  mark take_mark() { return child_->snapshot(fetched_); }
  /// As take_mark, for a mark that the run's schedule asked for: its cost is counted.
  mark take_due_mark();

  /// The environment of the whole tree below this stream's stage; its tick is read from now on.
  void set_environment(environment* env) {
    child_->env = env;
    child_->tick_ = &env->tick;
  }
  void set_run(std::shared_ptr<run_base> run) {
    run_ = std::move(run);
    takes_samples_ = true;
  }
  /// Is no task's request outstanding?
  bool at_rest() const { return !asked_.load(std::memory_order_relaxed); }
  /// This stream and those below it add to their stages' counts what they still keep to themselves. Only at rest; reaches what
  /// is pulled by this stream's requests, and not what works ahead.
  void tell_all_counts() const noexcept;
  /// Now and then a block is timed on its way here. For the top of a tree: the root of a run, what a pump pulls.
  void take_samples() { takes_samples_ = true; }
  run_base* run() const { return run_.get(); }
  const std::shared_ptr<run_base>& shared_run() const { return run_; }

 protected:
  friend class element_stage;
  friend class stage_state;
  template <class S> friend class saved;

  /// Starts a fill on behalf of a block stage, an element stage, a consumer that wants the status itself.
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
    if (p.sampled_) [[unlikely]]
      begin_sample(p.env);
    return fill(&p, skip, request_want_);
  }
  std::coroutine_handle<> ask_from_task(promise_base& p);
  /// Throws failed_precondition for a stream that was moved from, closed or never made.
  void check_not_empty() const;

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
  /// First fill, a new tick, a stop, errors to be counted first, the end, or time for a look at the clock.
  std::coroutine_handle<> fill_with_a_look(promise_base* owner, std::uint64_t skip, std::uint32_t want);
  /// Looks at the clock. Returns true if this stream has worked for so long that others should run first.
  bool look(std::uint32_t want);
  /// Drops marks that are not needed any more, and takes a new one.
  void renew_marks();
  std::coroutine_handle<> over_without_filling(promise_base* owner, std::uint64_t skip);

  /// Takes up what the stage handed over (after a fill).
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
  /// Counts n elements handed over, and those passed over before them.
  void took_up(std::uint32_t n) {
    took_up_passed();
    fetched_ += n;
    ++blocks_;
    if (child_->sampled_) [[unlikely]]
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
  /// At a look: is it time for the next sample?
  void take_sample_now_and_then();
  /// The next fill is timed.
  void begin_sample(const environment* env);
  /// It has given n elements, which are in child_->handed_.
  void end_sample(std::uint32_t n);
  /// Adds to the stage's counts what this stream has counted since it did so last.
  void tell_counts() const noexcept;
  void set_no_view();
  /// After a fill that gave nothing: throws where the stage failed (a task asked, and took the status upon itself).
  void throw_if_failed() const;
  /// After a fill for a task: the stream is at rest again; adapts how much the next plain next() asks for.
  void end_task_fill();

  std::uint64_t ordinal_at(const char* cursor) const {
    return fetched_ + todo_ - static_cast<std::size_t>(end_ - cursor) / element_bytes_;
  }
  void keep_marks();
  /// The newest mark from which `ordinal` is made again; null: here and now is one.
  const mark* mark_for(std::uint64_t ordinal) const;

  static constexpr std::uint32_t kNeverSeen = ~0u;  // no run's tick starts here

  stage_base* child_ = nullptr;
  char* cur_ = nullptr;
  char* end_ = nullptr;
  std::uint32_t element_bytes_ = 1;
  std::uint32_t request_want_ = 1;
  std::uint64_t request_skip_ = 0;
  std::uint32_t request_bytes_ = demand::kBytes;
  std::uint32_t seen_tick_ = kNeverSeen;  // the first fill takes the slow path
  std::uint64_t fetched_ = 0;             // ordinal after the current view
  std::uint64_t todo_ = 0;                // to pass over with the next request
  std::uint64_t asked_skip_ = 0;
  stage_base* forwarded_ = nullptr;  // a 1:1 stage whose own skip rides on our request
  slab* view_owner_ = nullptr;
  bool keep_ = false;
  bool takes_samples_ = false;
  std::uint8_t samples_ = 0;          // looks since the last one that began a sample
  mutable std::uint32_t blocks_ = 0;  // handed over since the counts were told
  turn turn_;
  std::uint32_t want_max_ = ~0u;  // so that a block takes some 10 ms at most, and a stop is noticed soon
  std::uint32_t looks_ = 0;       // a root's, up to kEarlyLooks
  std::uint64_t floor_ = kNone;
  std::vector<mark> marks_;

  // What the stage's counts are told now and then, of what is not counted anyway.
  mutable std::uint64_t counted_ = 0;         // fetched_ when they were told last
  mutable std::uint64_t passed_ = 0;          // of what came since then, so many were passed over
  mutable std::uint64_t sampled_passed_ = 0;  // the same when the sample began
  time_point sampled_at_{};

  // A consumer's side only.
  std::shared_ptr<run_base> run_;
  std::uint32_t ramp_ = 1;  // what a plain next() asks for
  /// A task's request is outstanding. Read by whoever asks next, who may, by mistake, be on another thread: atomic, so that
  /// the mistake is noticed instead of being undefined; relaxed, since nothing is handed over by it.
  std::atomic<bool> asked_{false};
  time_point asked_at_{};
};

}  // namespace sluice::lib
