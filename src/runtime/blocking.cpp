// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/blocking.hpp"

#include "coro/trace_log.hpp"
#include "sluice/coro/this_stage.hpp"

namespace sluice::lib {
namespace {

/// Returns the task or stage for which `p` works: the last one of those that wait for each other, up to a stage.
const promise_base& outermost(const promise_base& p) noexcept {
  const promise_base* at = &p;
  while (at->is_task() && at->waiter) at = at->waiter;
  return *at;
}

}  // namespace

void thread_wait::begin(const environment& env) noexcept {
  if (env.time) began_ = ended_ = env.time->now();
}

void thread_wait::end(const environment& env) noexcept {
  if (env.time) ended_ = env.time->now();
}

void thread_wait::count(promise_base& caller) const noexcept {
  if (ended_ == began_) return;
  if (stage_base* stage = stage_of(&caller)) {
    stage->waited(ended_ - began_, wait_reason::call_pool);
    if (tracing()) trace_wait(*stage, wait_reason::call_pool, began_, ended_);
  } else if (stage_counts* counts = outermost(caller).counts_of_task()) {
    counts->rare().task_pool_waits.add(ended_ - began_);
  }
}

}  // namespace sluice::lib
