// SPDX-License-Identifier: Apache-2.0
// Requests that arrive on any thread, and the server that runs their handlers.
//
//   request_queue requests("local:1");
//   requests.put(request);                         // any thread; waits for serve()
//   co_await requests.serve(handler);              // until close()
#pragma once

#include <memory>
#include <string>

#include "io/messages/stoppable_task.hpp"
#include "sluice/coro/channel.hpp"
#include "sluice/io/transport.hpp"

namespace sluice::lib {

/// A call or stream that has arrived. Its client shares it, because either side may end first.
class served_request {
 public:
  virtual ~served_request() = default;
  /// Runs the handler and sends what it answers, unless the environment was stopped meanwhile.
  virtual task<> serve(message_handler& handler) = 0;
  /// The request ends without an answer, because the server is closed. Without an effect after an answer.
  virtual void abandon(status why) = 0;

  stoppable_task handling;  ///< stopped when the client is gone
};

class request_queue {
 public:
  /// `address` is for messages.
  explicit request_queue(std::string address) : address_(std::move(address)) {}

  /// Returns false, and has not taken the request, if the queue is closed or too many requests wait.
  bool put(std::shared_ptr<served_request> request) { return waiting_.try_send(std::move(request)); }
  task<> serve(message_handler& handler);
  void close() noexcept;
  status closed_error() const;

 private:
  static constexpr std::size_t kWaitingMax = 4096;

  task<> accept_all(message_handler& handler);
  task<> accept_in(message_handler& handler, scope& all);
  task<> serve_one(message_handler& handler, std::shared_ptr<served_request> request);

  const std::string address_;
  channel<std::shared_ptr<served_request>> waiting_{{.elements = kWaitingMax}};
  stoppable_task serving_;
};

}  // namespace sluice::lib
