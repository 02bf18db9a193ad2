// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/stage.hpp"

#include <utility>

#include "coro/positions/absent_stage.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/coro/stream_base.hpp"

namespace sluice::lib {
namespace {

const std::atomic<std::uint32_t> kNoRun{0};

}  // namespace

bool stage_base::can_begin_again() const noexcept {
  if (!rests_at_end_ || !failure.ok()) return false;
  for (const stage_input& in : state_.inputs())
    if (!in.stream->child_ || !in.stream->child_->can_begin_again()) return false;
  const stream_base* owned = state_.owned_input();
  return !owned || (owned->child_ && owned->child_->can_begin_again());
}

void stage_base::begin_again() {
  SLUICE_REQUIRES(rests_at_end_ && failure.ok(), "a stage begins again only at its end");
  for (stage_input& in : state_.inputs()) {
    in.stream->forget_requests();
    in.stream->child_->begin_again();
  }
  if (const stream_base* owned = state_.owned_input()) {
    const_cast<stream_base*>(owned)->forget_requests();  // a part of this stage
    owned->child_->begin_again();
  }
  rests_at_end_ = false;
  if (rest_count_) *std::exchange(rest_count_, nullptr) = 0;
  unusual_ &= static_cast<std::uint8_t>(~kOver);
  handed_ = block{};
  skip_ = 0;
}

stage_base::stage_base(const element_type& type, yields what)
    : promise_base(on_failure::unwinds), yields_blocks_(what == yields::blocks), tick_(&kNoRun), out_(type) {}

stage_base::~stage_base() { delete absent_; }

void stage_base::keep(std::shared_ptr<const void> what) { kept_ = std::move(what); }

stage_base* stage_base::input_stage() const {
  return state_.inputs().empty() ? nullptr : state_.inputs().first().stream->stage();
}

std::coroutine_handle<> stage_base::drop_elements(std::coroutine_handle<> me, dropped_errors& errors) {
  if (errors.empty()) return me;
  for (dropped_error& e : errors.list()) {
    status why = send_up(std::move(e));
    if (!why.ok()) return unwind(this, std::move(why));
  }
  return me;
}

status stage_base::send_up(dropped_error e) {
  for (promise_base* p = this; p; p = p->waiter) {
    if (p->is_task()) continue;  // the coroutine that awaits it is further up
    auto* s = static_cast<stage_base*>(p);
    if (s->has_output()) {
      s->keep_for_later(std::move(e));
      return {};
    }
    if (s->error_sink_) return s->error_sink_->met(std::move(e));
  }
  // The search for the run ends at a user's when_all or scope: these make several requests at once, and timing orders
  // them anyway.
  return env && env->error_count ? env->error_count->met(std::move(e)) : status();
}

void stage_base::keep_for_later(dropped_error e) {
  errors_.add(std::move(e));
  unusual_ |= kErrorsAhead;
}

status stage_base::send_up_later_errors() noexcept {
  unusual_ &= static_cast<std::uint8_t>(~kErrorsAhead);
  dropped_errors errors = std::move(errors_);
  status why;
  if (errors.empty()) return why;
  try {
    for (dropped_error& e : errors.list())
      if (why.ok()) why = send_up(std::move(e));
  } catch (...) { why = current_exception_status(); }  // no memory to keep the error further up
  if (!why.ok()) threw_ = false;                       // this error replaces any later error of the stage itself
  return why;
}

std::coroutine_handle<> stage_base::look_around(std::coroutine_handle<> me) {
  if (!env || !env->time) {
    turn_.look_never();
    return me;
  }
  turn::seen seen = turn_.look(*env);
  env->request_marks_by_time(seen.now);
  if (env->stopping.load(std::memory_order_acquire)) return unwind(this, cancelled_error());
  if (!seen.others_first) return me;
  env->exec->post_later(me);  // after this line no member may be accessed
  return gave_way();
}

void stage_base::fail_with_current_exception(std::uint64_t at) noexcept {
  failure = current_exception_status();
  if (!label_.empty()) failure = failure.in_stage(label_, at);
  threw_ = true;
  end();
}

}  // namespace sluice::lib
