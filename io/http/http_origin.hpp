// SPDX-License-Identifier: Apache-2.0
// The state of one server that all requests to it share: its connections, its limit of concurrent requests, its
// response times.
//
//   auto answer = co_await origin.ask(request, deadline);     // returns when the head has arrived; the caller reads the body
//
// A server may end an idle connection at any time. A request that is sent on such a connection is sent again on another
// one, and this does not count as another attempt.
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

  /// Errors: those of http_exchange::ask, and of a connect; deadline_exceeded: also if no head arrives within the stall
  /// timeout.
  task<std::unique_ptr<http_exchange>> ask(http_message request, time_point deadline);

  /// Returns true if the failure may come from a wrong host or port: a connection that was refused, or a name that is
  /// unknown, before any connection to this server was made.
  bool is_unreached(const http_failure& failed) const { return failed.again && !failed.stalled && !pool.was_reached(); }

  concurrency_limit limit;
  connection_pool pool;
  /// The number of open files. Shared, because a file may be closed after the server was destroyed.
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
