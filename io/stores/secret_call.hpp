// SPDX-License-Identifier: Apache-2.0
// Requests credentials of S3 and tokens of Google.
#pragma once

#include <chrono>
#include <string_view>

#include "io/http/http_call.hpp"

namespace sluice::lib::detail {

/// The time limit for the machine's own service, which is close by or does not exist.
inline constexpr std::chrono::nanoseconds kMachineTime = std::chrono::seconds(1);
inline constexpr std::chrono::nanoseconds kServiceTime = std::chrono::seconds(10);

status unauthenticated(std::string_view what);
/// Returns "no token from the file a.json: …". If the wait itself was ended, returns that error.
status no_secret(std::string_view what, std::string_view source, const status& why);

/// `what`: "token", for messages; a literal. `time`: the limit for an answer. `servers` must outlive the task.
task<http_answer> secret_call(http_servers& servers, http_request request, std::string_view what,
                              std::chrono::nanoseconds time, time_point deadline);

}  // namespace sluice::lib::detail
