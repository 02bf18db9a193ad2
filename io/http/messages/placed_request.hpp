// SPDX-License-Identifier: Apache-2.0
// A request that is signed, and has one of the permits of the server that it goes to: who signs may choose the server.
//
//   auto placing = place_request(servers, service, request, {}, deadline);
//   placed_request placed = co_await placing;
//   auto asking = placed.server->ask(placed.request.message(), deadline);
//
// The permit is waited for after signing, since only then it is known whose it has to be; a signature that has waited for more
// than a minute is made anew.
// Errors: those of object_service::sign; cancelled.
// Thread: one at a time.
#pragma once

#include "io/http/http_servers.hpp"
#include "io/http/object_service.hpp"

namespace sluice::lib::detail {

struct placed_request {
  http_request request;
  http_origin* server = nullptr;
  concurrency_limit::permit permit;
};

/// `service`: null: nobody signs. `is_limited`: false for what requests with permits wait for (credentials): there is no permit.
task<placed_request> place_request(http_servers& servers, object_service* service, http_request request,
                                   bool is_limited, time_point deadline);

}  // namespace sluice::lib::detail
