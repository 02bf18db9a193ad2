// SPDX-License-Identifier: Apache-2.0
// A dispatcher and one worker, which a task starts and closes.
//
//   auto starting = test::start_pair(rt, "m0:1", "m1:1");
//   test::dispatcher_and_worker pair = co_await starting;
//   …
//   auto closing = test::close_pair(pair);
//   co_await closing;
#pragma once

#include <string>
#include <utility>

#include "sluice/coro/task.hpp"
#include "sluice/runtime/runtime.hpp"
#include "sluice/service/dispatcher.hpp"
#include "sluice/service/worker.hpp"

namespace sluice::lib::test {

struct dispatcher_and_worker {
  dispatcher d;
  worker one;
};

/// They listen at these addresses; empty: only within the process.
inline task<dispatcher_and_worker> start_pair(runtime& rt, std::string dispatcher_at, std::string worker_at) {
  dispatcher_config config;
  config.listen = std::move(dispatcher_at);
  auto starting = dispatcher::start(rt, config);
  dispatcher d = co_await starting;
  worker_config w;
  w.listen = std::move(worker_at);
  auto beginning = worker::start(rt, d.address(), w);
  worker one = co_await beginning;
  co_return dispatcher_and_worker{std::move(d), std::move(one)};
}

inline task<> close_pair(dispatcher_and_worker& pair) {
  auto closing_worker = pair.one.close();
  co_await closing_worker;
  auto closing_dispatcher = pair.d.close();
  co_await closing_dispatcher;
}

}  // namespace sluice::lib::test
