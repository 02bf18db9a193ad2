// SPDX-License-Identifier: Apache-2.0
// Runs a task from a function that is not a coroutine, such as main(), and blocks until it has ended.
//
//   auto n = sync_wait(env, count_words(path));      // returns the value, or throws the task's error
//
//   status why = sync_wait_result(env, copy(from, to));      // the same without exceptions
//
// Errors: the error of the task (throw_status). failed_precondition if called on a worker of the executor, because
//         blocking could occupy the thread that the task needs. failed_precondition if the executor is a simulation in
//         which no coroutine is ready and no timer is armed while the task has not ended: a deadlock.
// Cancel: a stop of `env` stops the task, which then fails with `cancelled`; the call itself waits for the task's end.
// Thread: blocks the caller. The task runs on the environment's executor from its first line on. With a simulation it
//         runs within this call, on the calling thread.
// Owns:   the task and its frame, which are destroyed before the call returns.
// See:    runtime/runtime.hpp for sync_wait(runtime&, task).
#pragma once

#include <utility>

#include "sluice/coro/task.hpp"

namespace sluice::lib {
namespace detail {

/// Posts a coroutine to the executor that awaits the task of this promise, and blocks until the task has ended. Its
/// result is then in the promise. Errors: failed_precondition, as above.
void run_to_end(environment& env, promise_base& work);

}  // namespace detail

/// Does what sync_wait does, but returns an error of the task instead of throwing it: result<T>, or a status for
/// task<void>.
template <class T> auto sync_wait_result(environment& env, task<T> work) {
  detail::run_to_end(env, work.get().promise());
  return work.get().promise().take();
}

/// Runs `work` in the environment and returns its value.
template <class T> T sync_wait(environment& env, task<T> work) {
  auto r = sync_wait_result(env, std::move(work));
  if constexpr (std::is_void_v<T>) {
    if (!r.ok()) throw_status(r);
  } else {
    return std::move(r).value();
  }
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::sync_wait;
using lib::sync_wait_result;

}  // namespace sluice
