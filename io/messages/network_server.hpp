// SPDX-License-Identifier: Apache-2.0
// The server of the transport over a network. A connection is a task; while a handler runs, a second task watches
// whether the client has gone, and then stops the handler.
#pragma once

#include <atomic>

#include "io/messages/network_channel.hpp"
#include "io/messages/stoppable_task.hpp"

namespace sluice::lib {

class network_server final : public message_server {
 public:
  network_server(std::unique_ptr<listener> door, message_handler& handler)
      : door_(std::move(door)), address_(door_->address()), handler_(handler) {}

  const std::string& address() const noexcept override { return address_; }
  task<> serve() override;
  void close() noexcept override {
    door_->close();
    serving_.stop();
  }

 private:
  static constexpr std::size_t kConnectionsMax = 4096;

  task<> accept_all(scope& all);
  task<> serve_connection(std::unique_ptr<connection> c);
  task<> serve_messages(message_link& over);
  task<> serve_call(message_link& over, message m);
  task<> serve_stream(message_link& over, message m);
  task<> refuse(message_link& over, status why);

  std::unique_ptr<listener> door_;
  const std::string address_;
  message_handler& handler_;
  stoppable_task serving_;
  std::atomic<std::size_t> connections_{0};
};

}  // namespace sluice::lib
