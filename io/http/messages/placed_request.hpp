// SPDX-License-Identifier: Apache-2.0
// A signed request that holds a permit of its server. Signing may choose the server.
//
//   auto placing = place_request(servers, service, request, {}, deadline);
//   placed_request placed = co_await placing;
//   auto asking = placed.server->ask(placed.request.message(), deadline);
//
// The permit is acquired after signing, because only then its server is known. A signature that has waited for more
// than a minute is replaced.
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

/// `service`: null: requests are not signed. `is_limited`: false for requests that other requests with permits wait for
/// (credentials): they need no permit.
task<placed_request> place_request(http_servers& servers, object_service* service, http_request request,
                                   bool is_limited, time_point deadline);

}  // namespace sluice::lib::detail
