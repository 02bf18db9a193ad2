// SPDX-License-Identifier: Apache-2.0
// A transport that reaches the servers of another one: workers that listen there seem to be in another process, so that
// consumers read them by messages.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "sluice/io/transport.hpp"

namespace sluice::lib::test {

class other_process final : public message_transport {
 public:
  explicit other_process(std::shared_ptr<message_transport> to) : to_(std::move(to)) {}
  task<std::unique_ptr<message_server>> listen(std::string address, message_handler& handler) override {
    return to_->listen(std::move(address), handler);
  }
  std::unique_ptr<message_channel> connect(std::string address) override { return to_->connect(std::move(address)); }

 private:
  const std::shared_ptr<message_transport> to_;
};

}  // namespace sluice::lib::test
