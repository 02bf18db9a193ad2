// SPDX-License-Identifier: Apache-2.0
// What requests do when an attempt of theirs has failed.
#pragma once

#include <string>

#include "io/http/http_context.hpp"
#include "io/http/http_exchange.hpp"

namespace sluice::lib::detail {

/// What a failed attempt was for, in messages.
struct attempted {
  std::string path;
  std::string what;  ///< "bytes 0-99", "listing"
  std::uint64_t offset = provenance::kUnknown;
};

/// What the error of a connection means for another attempt.
http_failure failure_from(status why, const http_context& context, time_point deadline);

/// The first bytes of the body of an answer that is no success; what cannot be had soon is not missed.
task<std::string> error_body(http_exchange& from, const http_context& context, time_point deadline);

/// Waits for the next attempt; fails where there is none, saying why.
task<> wait_for_next(http_context& context, retry_state& retry, http_failure failed, attempted of, time_point deadline);

}  // namespace sluice::lib::detail
