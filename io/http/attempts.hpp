// SPDX-License-Identifier: Apache-2.0
// Handles a failed attempt of a request.
#pragma once

#include <string>

#include "io/http/http_context.hpp"
#include "io/http/http_exchange.hpp"

namespace sluice::lib::detail {

/// The subject of a failed attempt, for messages.
struct attempted {
  std::string path;
  std::string what;  ///< "bytes 0-99", "listing"
  std::uint64_t offset = provenance::kUnknown;
};

/// Classifies the error of a connection for another attempt.
http_failure failure_from(status why, const http_context& context, time_point deadline);

/// Returns the first bytes of an error's body; bytes that do not arrive soon are left out.
task<std::string> error_body(http_exchange& from, const http_context& context, time_point deadline);

/// Waits until the next attempt may start. Fails, with the reason, if no further attempt is allowed.
task<> wait_for_next(http_context& context, retry_state& retry, http_failure failed, attempted of, time_point deadline);

}  // namespace sluice::lib::detail
