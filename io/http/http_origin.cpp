// SPDX-License-Identifier: Apache-2.0
#include "io/http/http_origin.hpp"

#include <algorithm>

#include "sluice/base/mutex.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib::detail {

http_origin::http_origin(http_context& context, const http_url& url, std::shared_ptr<secure_layer> secure)
    : limit(context.time, std::max(1u, std::min(context.options.requests_first, context.options.requests_max)),
            std::max(1u, context.options.requests_max)),
      pool(context.net(), context.time, url, context.options.connect_timeout, std::move(secure)),
      context_(context) {}

task<std::unique_ptr<http_exchange>> http_origin::ask_once(http_message request, bool on_new_connection,
                                                           time_point deadline) {
  for (;;) {
    std::unique_ptr<connection> wire;
    if (!on_new_connection) wire = pool.take_idle();
    const bool reused = wire != nullptr;
    if (!reused) {
      auto connecting = pool.connect(deadline);
      wire = co_await connecting;
    }
    auto one = std::make_unique<http_exchange>(pool, std::move(wire));
    const time_point asked = context_.time.now();
    context_.counts.requests.fetch_add(1, std::memory_order_relaxed);
    auto asking = one->ask(request, context_.time, context_.options.stall_timeout, deadline);
    status why = co_await asking.as_result();
    if (why.ok()) {
      const duration took = context_.time.now() - asked;
      one->set_answered_after(took);
      // the time for sending a body is not part of the time to the first byte
      if (!request.body.empty()) co_return one;
      times_.add(took);
      limit.answered(took);
      co_return one;
    }
    // Bytes of a previous request on an idle connection are not an answer to this one.
    const bool was_over = reused && ((why.code() == status_code::unavailable && !one->was_heard()) ||
                                     why.code() == status_code::data_loss);
    if (!was_over) co_await fail(std::move(why));
  }
}

/// Two requests for the same bytes. The first answer wins, and ends the other request.
struct http_origin::race {
  lib::mutex mutex;
  std::unique_ptr<http_exchange> won ABSL_GUARDED_BY(mutex);
  status why ABSL_GUARDED_BY(mutex);  ///< of the first that failed
  bool first_ended ABSL_GUARDED_BY(mutex) = false;
  bool second_asks ABSL_GUARDED_BY(mutex) = false;

  /// Returns true if nothing more is awaited. REQUIRES: the mutex is locked.
  bool settle(result<std::unique_ptr<http_exchange>>& answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (!answer.ok() && why.ok()) why = answer.why();
    if (answer.ok() && !won) won = *std::move(answer);
    return won || (first_ended && !second_asks);
  }
};

task<> http_origin::first_lane(http_message request, time_point deadline, scope& all, race& between) {
  auto asking = ask_once(std::move(request), false, deadline);
  auto answer = co_await asking.as_result();
  bool over;
  {
    mutex_lock lock(between.mutex);
    between.first_ended = true;
    over = between.settle(answer);
  }
  if (over) all.request_stop();
}

task<> http_origin::second_lane(http_message request, duration after, time_point deadline, scope& all, race& between) {
  after = std::max<duration>(after, std::chrono::milliseconds(1));
  std::optional<concurrency_limit::permit> permit;
  while (!permit) {
    // If other requests use all hedges, this one waits again: most of them are only a little late, and an answer that
    // has stalled is still missing when theirs have arrived.
    co_await sleep_for(after);
    auto free = limit.try_acquire_beyond();
    mutex_lock lock(between.mutex);
    if (between.first_ended) co_return;
    if (!free || !times_.take_hedge()) continue;
    between.second_asks = true;
    permit = std::move(free);
  }
  context_.counts.hedges.fetch_add(1, std::memory_order_relaxed);
  auto asking = ask_once(std::move(request), true, deadline);
  auto answer = co_await asking.as_result();
  bool over;
  {
    mutex_lock lock(between.mutex);
    between.second_asks = false;
    if (answer.ok() && !between.won) context_.counts.hedges_won.fetch_add(1, std::memory_order_relaxed);
    over = between.settle(answer);
  }
  if (over) all.request_stop();
}

task<std::unique_ptr<http_exchange>> http_origin::ask_twice(http_message request, duration after, time_point deadline) {
  environment* env = co_await this_environment();
  race between;
  {
    scope both(*env);
    both.spawn(first_lane(request, deadline, both, between));
    both.spawn(second_lane(request, after, deadline, both, between));
    co_await both.join();
  }
  std::unique_ptr<http_exchange> won;
  status why;
  {
    mutex_lock lock(between.mutex);
    won = std::move(between.won);
    why = std::move(between.why);
  }
  if (!won) co_await fail(std::move(why));
  co_return std::move(won);
}

task<std::unique_ptr<http_exchange>> http_origin::ask(http_message request, time_point deadline) {
  std::optional<duration> after;
  if (request.may_be_sent_twice) times_.count_request();
  if (request.may_be_sent_twice && context_.options.hedge) after = times_.hedge_after();
  if (after) {
    auto asking = ask_twice(std::move(request), *after, deadline);
    co_return co_await asking;
  }
  const bool on_new_connection = request.on_new_connection;
  auto asking = ask_once(std::move(request), on_new_connection, deadline);
  co_return co_await asking;
}

}  // namespace sluice::lib::detail
