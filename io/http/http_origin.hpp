// SPDX-License-Identifier: Apache-2.0
// One server, as all requests to it see it: its connections, how many requests it takes at once, how long its answers take.
//
//   auto answer = co_await origin.ask(request, deadline);     // the head has come; the body is the caller's to read
//
// A request on a connection that has served others may meet its end, which says nothing of the server: it is sent again on
// another connection, and that is no further attempt.
// Thread: any.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "io/http/connections/concurrency_limit.hpp"
#include "io/http/connections/connection_pool.hpp"
#include "io/http/connections/first_byte_times.hpp"
#include "io/http/http_context.hpp"
#include "io/http/http_exchange.hpp"
#include "sluice/coro/scope.hpp"

namespace sluice::lib::detail {

class http_origin {
 public:
  http_origin(http_context& context, const http_url& url, std::shared_ptr<secure_layer> secure);

  /// Errors: those of http_exchange::ask, and of a connect; deadline_exceeded: no head within the stall timeout, too.
  task<std::unique_ptr<http_exchange>> ask(http_message request, time_point deadline);

  concurrency_limit limit;
  connection_pool pool;
  /// Files that are open. A file may be closed when the server is forgotten.
  const std::shared_ptr<std::atomic<std::uint32_t>> files = std::make_shared<std::atomic<std::uint32_t>>(0);

 private:
  struct race;
  task<std::unique_ptr<http_exchange>> ask_once(http_message request, bool on_new_connection, time_point deadline);
  task<std::unique_ptr<http_exchange>> ask_twice(http_message request, duration after, time_point deadline);
  task<> first_lane(http_message request, time_point deadline, scope& all, race& between);
  task<> second_lane(http_message request, duration after, time_point deadline, scope& all, race& between);

  http_context& context_;
  first_byte_times times_;
};

}  // namespace sluice::lib::detail
