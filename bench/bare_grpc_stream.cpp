// SPDX-License-Identifier: Apache-2.0
#if SLUICE_HAVE_GRPC

#include "bench/bare_grpc_stream.hpp"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <condition_variable>
#include <mutex>
#include <string>

namespace sluice::lib::bench {
namespace {

class bare_writer final : public grpc::ServerGenericBidiReactor {
 public:
  explicit bare_writer(frames f) : left_(f.count) {
    const std::string text(f.bytes, 'x');
    grpc::Slice whole(text.data(), text.size());
    message_ = grpc::ByteBuffer(&whole, 1);
    OnWriteDone(true);
  }
  void OnWriteDone(bool ok) override {
    if (!ok || left_ == 0) return Finish(grpc::Status::OK);
    --left_;
    StartWrite(&message_);
  }
  void OnDone() override { delete this; }

 private:
  std::size_t left_;
  grpc::ByteBuffer message_;
};
class bare_service final : public grpc::CallbackGenericService {
 public:
  explicit bare_service(frames f) : frames_(f) {}
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new bare_writer(frames_);
  }

 private:
  frames frames_;
};
class bare_reader final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  void run(grpc::GenericStub& stub) {
    stub.PrepareBidiStreamingCall(&context_, "/bare/stream", {}, this);
    StartRead(&received_);
    StartCall();
    std::unique_lock lock(mutex_);
    while (!done_) changed_.wait(lock);
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    bytes += received_.Length();
    StartRead(&received_);
  }
  void OnDone(const grpc::Status&) override {
    std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_one();
  }
  std::uint64_t bytes = 0;

 private:
  grpc::ClientContext context_;
  grpc::ByteBuffer received_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
};

}  // namespace

pass bare_grpc_stream(frames f) {
  bare_service service(f);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterCallbackGenericService(&service);
  auto server = builder.BuildAndStart();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  grpc::GenericStub stub(
      grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials(), arguments));
  bare_reader reader;
  stopwatch watch(timed::wall);
  reader.run(stub);
  const double ns = watch.ns();
  server->Shutdown();
  return {reader.bytes, static_cast<double>(f.count), ns};
}

}  // namespace sluice::lib::bench

#endif
