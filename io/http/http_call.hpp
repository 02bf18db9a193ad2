// SPDX-License-Identifier: Apache-2.0
// One request whose answer is read whole, with as many attempts as that takes.
//
//   http_request r = …;                                   // a PUT, say, with its body
//   auto answer = co_await http_call(servers, service, r, {.of = {path, "listing"}});
//
// Every attempt is signed again. A request is also sent again after a lost connection, when nobody knows whether the
// server carried it out. Callers must only pass requests that may be carried out twice.
// Errors: those of http.hpp; data_loss: an answer longer than is allowed.
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
  std::uint32_t attempts_max = 0;           ///< 0: those of http_options
  std::chrono::nanoseconds answer_time{0};  ///< of one attempt; 0: the stall timeout
  std::size_t answer_bytes_max = 16 << 20;
  /// If true, the call waits for one of the server's permits. Must be false for credentials, because requests that
  /// already have a permit wait for them.
  bool is_limited = true;
  /// Returns true if such a code is an answer; else it is a failure. Null: 2xx are.
  bool (*is_answer)(const response_head& head) = nullptr;
  /// Returns a failure that an answer with a good code reports in its body.
  std::optional<http_failure> (*check)(const http_answer& answer) = nullptr;
};

/// `service`: null: nobody signs. The body of the request has to stay until the task has ended.
task<http_answer> http_call(std::shared_ptr<http_servers> servers, std::shared_ptr<object_service> service,
                            http_request request, call_options how);

}  // namespace sluice::lib::detail
