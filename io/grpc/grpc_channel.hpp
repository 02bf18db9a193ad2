// SPDX-License-Identifier: Apache-2.0
// The client of the transport over gRPC.
#pragma once

#include <grpcpp/generic/generic_stub.h>

#include "sluice/io/transport.hpp"

namespace sluice::lib {

class grpc_channel final : public message_channel {
 public:
  explicit grpc_channel(std::string address);

  task<result<std::string>> call(std::string method, std::string request, time_point deadline) override;
  task<std::unique_ptr<frame_reader>> open(std::string method, std::string request, stream_options options,
                                           time_point deadline) override;
  const std::string& address() const noexcept override { return address_; }

 private:
  const std::string address_;
  grpc::GenericStub stub_;
};

}  // namespace sluice::lib
