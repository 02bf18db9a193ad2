// SPDX-License-Identifier: Apache-2.0
// Sends a request and reads the whole answer, with as many attempts as needed.
//
//   http_request r = …;                                   // for example a PUT with its body
//   auto answer = co_await http_call(servers, service, r, {.of = {path, "listing"}});
//
// Every attempt is signed again. A request is also sent again after a lost connection, although the server may have
// carried it out. Callers must pass only requests that may be carried out twice.
// Errors: those of http.hpp; data_loss: the answer exceeds the limit.
// Thread: one at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "io/http/attempts.hpp"
#include "io/http/http_servers.hpp"
#include "io/http/object_service.hpp"

namespace sluice::lib::detail {

struct http_answer {
  response_head head;
  std::string body;
};

struct call_options {
  attempted of;
  time_point deadline = kNever;
  std::uint32_t attempts_max = 0;           ///< 0: the value of http_options
  std::chrono::nanoseconds answer_time{0};  ///< the limit for one attempt; 0: the stall timeout
  std::size_t answer_bytes_max = 16 << 20;
  /// If true, the call waits for one of the server's permits. Must be false for credentials, because requests that
  /// already have a permit wait for them.
  bool is_limited = true;
  /// Returns true if such a code is an answer and not a failure. Null: codes 2xx are answers.
  bool (*is_answer)(const response_head& head) = nullptr;
  /// Returns a failure that an answer with a good code reports in its body.
  std::optional<http_failure> (*check)(const http_answer& answer) = nullptr;
};

/// `service`: null: requests are not signed. The body of the request must stay valid until the task has ended.
task<http_answer> http_call(std::shared_ptr<http_servers> servers, std::shared_ptr<object_service> service,
                            http_request request, call_options how);

}  // namespace sluice::lib::detail
