// SPDX-License-Identifier: Apache-2.0
#include "io/messages/network_server.hpp"
#include "sluice/io/message_transport.hpp"

namespace sluice::lib {
namespace {

class network_transport final : public message_transport {
 public:
  explicit network_transport(network& net) : net_(net) {}
  task<std::unique_ptr<message_server>> listen(std::string address, message_handler& handler) override {
    auto door = co_await net_.listen(std::move(address));
    co_return std::make_unique<network_server>(std::move(door), handler);
  }
  std::unique_ptr<message_channel> connect(std::string address) override {
    return std::make_unique<network_channel>(net_, std::move(address));
  }

 private:
  network& net_;
};

}  // namespace

std::unique_ptr<message_transport> make_message_transport(network& net) {
  return std::make_unique<network_transport>(net);
}

}  // namespace sluice::lib
