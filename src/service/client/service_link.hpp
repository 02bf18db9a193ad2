// SPDX-License-Identifier: Apache-2.0
// The calls of a consumer or worker to its dispatcher, and its channels to workers.
//
//   auto link = std::make_shared<service_link>(transport, "10.0.0.1:7700", patience);
//   auto asking = link->ask(next_split_request{…});
//   result<next_split_reply> reply = co_await asking;
//
// A call that the transport could not deliver, or whose answer it lost, is repeated with growing pauses until `patience`
// is over: every call of the service may be repeated (core/messages.hpp).
// Errors: the dispatcher's own; unavailable, deadline_exceeded: it was not reached for as long as `patience`, with the number
//         of attempts and the last error. `cancelled` after a stop.
// Thread: any. Owns: a share of the transport, and the channels.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "service/core/messages.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/io/transport.hpp"

namespace sluice::lib {

class service_link {
 public:
  /// A call without an answer by then is repeated. A dispatcher answers a call that waits for a change before that.
  static constexpr duration kCallTime = std::chrono::seconds(10);
  static constexpr duration kPauseMin = std::chrono::milliseconds(20), kPauseMax = std::chrono::seconds(1);
  /// After this time without an answer the run gets a warning.
  static constexpr duration kSilent = std::chrono::seconds(2);

  /// `patience`: 0: without end.
  service_link(std::shared_ptr<message_transport> transport, std::string dispatcher, duration patience);

  const std::string& dispatcher() const { return dispatcher_->address(); }
  const std::shared_ptr<message_transport>& transport() const { return transport_; }
  duration patience() const { return patience_; }

  template <class Request> task<result<reply_of<Request>>> ask(Request request) {
    auto asking = ask_text(std::string(method_of<Request>), to_json(request));
    result<std::string> answer = co_await asking;
    if (!answer.ok()) co_return answer.why();
    co_return from_json<reply_of<Request>>(*answer);
  }
  /// The same without a repetition. Errors: throws those of the transport.
  template <class Request> task<result<reply_of<Request>>> ask_once(Request request) {
    auto asking = send(std::string(method_of<Request>), to_json(request));
    result<std::string> answer = co_await asking;
    if (!answer.ok()) co_return answer.why();
    co_return from_json<reply_of<Request>>(*answer);
  }
  task<result<service_reply>> ask_any_once(service_request request);
  /// The channel to a worker, which stays until the link is destroyed.
  std::shared_ptr<message_channel> worker(const std::string& address);

 private:
  task<result<std::string>> send(std::string method, std::string request);
  task<result<std::string>> ask_text(std::string method, std::string request);

  const std::shared_ptr<message_transport> transport_;
  const std::unique_ptr<message_channel> dispatcher_;
  const duration patience_;
  mutex mutex_;
  std::map<std::string, std::shared_ptr<message_channel>> workers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
