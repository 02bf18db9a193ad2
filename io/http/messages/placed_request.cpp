// SPDX-License-Identifier: Apache-2.0
#include "io/http/messages/placed_request.hpp"

namespace sluice::lib::detail {
namespace {

/// The age at which a signature is renewed. S3 accepts one for a quarter of an hour; HDFS's place is valid until a data
/// node is lost.
constexpr duration kSignedFor = std::chrono::minutes(1);

}  // namespace

task<placed_request> place_request(http_servers& servers, object_service* service, http_request request,
                                   bool is_limited, time_point deadline) {
  clock& time = servers.context().time;
  placed_request placed;
  for (;;) {
    placed.request = request;
    if (service) {
      auto signing = service->sign(placed.request, deadline);
      co_await signing;
    }
    placed.server = &servers.at(placed.request.to);
    if (!is_limited) co_return placed;
    const time_point signed_at = time.now();
    placed.permit = co_await placed.server->limit.acquire();
    if (!service || time.now() - signed_at < kSignedFor) co_return placed;
    placed.permit = {};
  }
}

}  // namespace sluice::lib::detail
