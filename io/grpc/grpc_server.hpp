// SPDX-License-Identifier: Apache-2.0
// The server of the transport over gRPC: a reactor for each call or stream, whose handlers run as tasks of serve().
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include "io/messages/request_queue.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib {

inline constexpr const char* kGrpcCallMethod = "/sluice.Messages/call";
inline constexpr const char* kGrpcStreamMethod = "/sluice.Messages/stream";

class grpc_server final : public message_server, private grpc::CallbackGenericService {
 public:
  /// Begins to listen. Errors: invalid_argument, unavailable.
  static result<std::unique_ptr<message_server>> start(const std::string& address, message_handler& handler);
  ~grpc_server() override;

  const std::string& address() const noexcept override { return address_; }
  task<> serve() override;
  void report_draining() noexcept override;
  void close() noexcept override { requests_->close(); }

 private:
  explicit grpc_server(message_handler& handler) : handler_(handler) {}
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override;
  void shut_down();

  message_handler& handler_;
  std::string address_;
  std::unique_ptr<request_queue> requests_;
  mutex server_mutex_;
  std::unique_ptr<grpc::Server> server_ ABSL_GUARDED_BY(server_mutex_);
};

}  // namespace sluice::lib
