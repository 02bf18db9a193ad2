// SPDX-License-Identifier: Apache-2.0
// A task that belongs only to a run: pumps, computations, lent pulls.
//
//   run_task copy(std::shared_ptr<run_context>& run, std::shared_ptr<ring> shared) {   // the run comes first
//     auto mine = std::move(shared);                  // a local: gone before the run hears that the task has ended
//     co_await …;                                     // failures by as_result(): no caller could catch them
//   }
//
// The task starts at once, on the caller's thread, and frees itself at its end. The run counts it, so that cleanup()
// and the runtime's destructor wait for it. Resources belong in its local variables: parameters outlive the promise,
// and therefore the count.
// If the counters of a stage come second, the task works beside that stage, and its waits for threads belong to it.
// Errors: an exception that leaves the task ends the program.
#pragma once

#include <memory>

#include "sluice/base/assert.hpp"
#include "sluice/coro/detail/frame_pool.hpp"
#include "sluice/coro/detail/promise.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

class run_task {
 public:
  struct promise_type : promise_base, detail::pooled_frame {
    template <class... A> explicit promise_type(std::shared_ptr<run_context>& run, A&...) : run_(run) {
      env = run.get();
      run_->task_started();
    }
    template <class... A>
    explicit promise_type(std::shared_ptr<run_context>& run, stage_counts& of, A&...) : promise_type(run) {
      counts_ = &of;
    }
    ~promise_type() {
      std::shared_ptr<run_context> run = std::move(run_);
      run->task_ended();
    }
    run_task get_return_object() {
      self = std::coroutine_handle<promise_type>::from_promise(*this);
      return {};
    }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    stage_counts* counts_of_task() const noexcept override { return counts_; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { SLUICE_ASSERT(false, "a task of a run let an exception out"); }

   private:
    std::shared_ptr<run_context> run_;
    stage_counts* counts_ = nullptr;  // they live as long as the run
  };
};

}  // namespace sluice::lib
