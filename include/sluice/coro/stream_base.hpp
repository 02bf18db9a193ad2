// SPDX-License-Identifier: Apache-2.0
// The consuming side of a stream: owner of a stage's frame, and cursor over the view it handed over last.
//
// Rest: a stream is at rest when no request on it is outstanding. Whoever is about to pull knows that, so positions,
// restore and destruction happen on the consumer's side, synchronously, and only at rest.
//
// Marks: a consumer that may have to go back (it still holds payloads, or has leftovers of a view) keeps positions of a
// moment ago: one before the first fill, one before a fill whenever the run's tick has changed. It says from which
// ordinal it still holds payloads (`hold_from`); older marks are dropped.
#pragma once

#include <memory>
#include <vector>

#include "sluice/base/assert.hpp"
#include "sluice/coro/stage.hpp"

namespace sluice {

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
  /// Before the first request.
  void restore(position_reader& r);
  /// A mark of here and now; the stream must have no leftovers.
  mark take_mark();
  /// Has the run's tick changed since this was last asked? (For keepers of marks of their own: channels.)
  bool mark_due();

  void set_environment(environment* env) { child_->env = env; }
  void set_run(std::shared_ptr<run_base> run) { run_ = std::move(run); }
  run_base* run() const { return run_.get(); }
  const std::shared_ptr<run_base>& shared_run() const { return run_; }

 protected:
  friend class stage_base;
  template <class S> friend class saved;

  /// Starts a fill on behalf of a block stage, an element stage, a consumer that wants the status itself.
  template <class Promise> std::coroutine_handle<> ask(Promise& p) {
    if constexpr (requires { Promise::kBlockStage; }) return ask_from_block_stage(p);
    else if constexpr (std::is_base_of_v<stage_base, Promise>) return ask_from_element_stage(p);
    else {
      static_assert(std::is_base_of_v<promise_base, Promise>,
                    "sluice: a stream is awaited from a task or a stage; elsewhere (asio) use async_next(token)");
      return ask_from_task(p);
    }
  }
  std::coroutine_handle<> ask_from_block_stage(stage_base& p) {
    std::uint64_t skip = request_skip_;
    request_skip_ = 0;
    forwarded_ = nullptr;
    if (p.one_to_one_ && p.skip_) {
      skip += p.skip_;
      p.skip_ = 0;
      forwarded_ = &p;
    }
    return fill(&p, skip, request_want_);
  }
  std::coroutine_handle<> ask_from_element_stage(stage_base& p);
  std::coroutine_handle<> ask_from_task(promise_base& p);
  /// Throws failed_precondition for a stream that was moved from, closed or never made.
  void check_not_empty() const;

  std::coroutine_handle<> fill(promise_base* owner, std::uint64_t skip, std::uint32_t want) {
    stage_base* c = child_;
    if (c->over_ || c->tick_->load(std::memory_order_relaxed) != seen_tick_) [[unlikely]] {
      if (!before_fill(owner)) return over_without_filling(owner, skip);
    }
    c->skip_ = asked_skip_ = skip + todo_;
    todo_ = 0;
    c->want_ = want;
    c->want_bytes_ = request_bytes_;
    c->waiter = owner;
    return c->serve();
  }
  /// First fill, a new tick or a stop. False: the stream is over.
  bool before_fill(promise_base* owner);
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
    fetched_ += asked_skip_ - child_->skip_ + n;
    asked_skip_ = child_->skip_;
  }
  void set_no_view();
  /// After a fill that gave nothing: throws where the stage failed (a task asked, and took the status upon itself).
  void throw_if_failed() const;
  /// After a fill: the task no longer takes statuses itself; adapts how much the next plain next() asks for.
  void end_task_fill();

  std::uint64_t ordinal_at(const char* cursor) const {
    return fetched_ + todo_ - static_cast<std::size_t>(end_ - cursor) / element_bytes_;
  }
  void keep_marks();

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
  std::uint64_t floor_ = kNone;
  std::vector<mark> marks_;

  // A consumer's side only.
  std::shared_ptr<run_base> run_;
  std::uint32_t ramp_ = 1;  // what a plain next() asks for
  std::uint32_t fills_since_tick_ = 0;
  time_point asked_at_{};
};

inline void stage_base::cut() {
  for (int i = 0; i < input_count_; ++i) cut_cursor_[i] = inputs_[i]->cur_;
  for (int i = 0; i < saved_count_; ++i) saved_[i]->cut();
  cut_put_ = put_;
  cut_pending_ = true;
}

}  // namespace sluice
