// SPDX-License-Identifier: Apache-2.0
// The client of the transport over a network. A call uses an idle connection of the channel or a new one, and a stream
// has a connection of its own: so calls never wait for each other, and no task runs in the background. After a failure
// the idle connections are closed, because their server has probably gone, too.
#pragma once

#include <vector>

#include "io/messages/message_bytes.hpp"
#include "io/messages/message_limits.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib {

/// A connection with its messages.
struct message_link {
  message_link(std::unique_ptr<connection> c, std::string peer)
      : bytes(std::move(c)), source(*bytes, std::move(peer), 0), sink(*bytes) {}
  std::unique_ptr<connection> bytes;
  message_source source;
  message_sink sink;
};

class network_channel final : public message_channel {
 public:
  network_channel(network& net, std::string address) : net_(net), address_(std::move(address)) {}

  task<result<std::string>> call(std::string method, std::string request, time_point deadline) override;
  task<std::unique_ptr<frame_reader>> open(std::string method, std::string request, stream_options options,
                                           time_point deadline) override;
  const std::string& address() const noexcept override { return address_; }

 private:
  static constexpr std::size_t kIdleMax = 8;
  using link = std::unique_ptr<message_link>;

  task<link> connect(time_point deadline);
  task<result<std::string>> call_over(link& over, std::string method, std::string request, time_point deadline);
  link take_idle();
  void keep_idle(link l);
  void drop_idle() noexcept;

  network& net_;
  const std::string address_;
  mutex mutex_;
  std::vector<link> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
