// SPDX-License-Identifier: Apache-2.0
// Frames per second of the message transports, beside a stream of gRPC without anything else. Each side has its own
// runtime, and both are in this process.
#if SLUICE_HAVE_GRPC && SLUICE_HAVE_ASIO

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <condition_variable>
#include <mutex>

#include "bench/harness.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/io/asio_network.hpp"
#include "sluice/io/grpc_transport.hpp"
#include "sluice/io/message_transport.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::bench {
namespace {

struct frames {
  std::size_t count = 0, bytes = 0;
};

// --- gRPC alone: the same message again and again, read and counted -------------------------------------------------

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
pass bare_pass(frames f) {
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

// --- ours -----------------------------------------------------------------------------------------------------------

class same_frame final : public message_handler {
 public:
  explicit same_frame(frames f) : frames_(f), frame_(slice::copy_of(std::string(f.bytes, 'x'))) {}
  task<std::string> on_call(std::string, std::string) override { co_return std::string(); }
  task<> on_stream(std::string, std::string, frame_writer& out) override {
    for (std::size_t i = 0; i != frames_.count; ++i) co_await out.write(frame_);
  }

 private:
  frames frames_;
  slice frame_;
};
task<> serve_until(message_server& server) { co_await server.serve(); }
task<std::uint64_t> read_frames(message_channel& channel) {
  auto reader = co_await channel.open("frames", "");
  std::uint64_t bytes = 0;
  for (;;) {
    auto frame = co_await reader->next();
    auto got = std::move(frame).value();
    if (!got) co_return bytes;
    bytes += got->size();
  }
}
task<> read_and_close(message_channel& channel, message_server& server, std::uint64_t& bytes, double& ns) {
  stopwatch watch(timed::wall);
  bytes = co_await read_frames(channel);
  ns = watch.ns();
  server.close();
}
task<pass> our_stream(message_transport& messages, frames f) {
  same_frame handler(f);
  std::string anywhere = "127.0.0.1:0";
  auto server = co_await messages.listen(anywhere, handler);
  auto channel = messages.connect(server->address());
  std::uint64_t bytes = 0;
  double ns = 0;
  environment* env = co_await this_environment();
  scope all(*env);
  all.spawn(serve_until(*server));
  all.spawn(read_and_close(*channel, *server, bytes, ns));
  co_await all.join();
  co_return pass{bytes, static_cast<double>(f.count), ns};
}
pass our_pass(message_transport& messages, frames f) {
  runtime rt({.workers = 2});
  return sync_wait(rt, our_stream(messages, f));
}

void transport(report& r) {
  const frames large{1000, std::size_t{1} << 20}, small{50'000, std::size_t{1} << 10};
  auto net = make_asio_network();
  auto over_grpc = make_grpc_transport(), over_tcp = make_message_transport(*net);
  struct row {
    const char* name;
    message_transport* messages;
    frames f;
    double goal;
  };
  const row rows[] = {{"transport 1 MiB, gRPC", over_grpc.get(), large, 0.85},
                      {"transport 1 KiB, gRPC", over_grpc.get(), small, 0.5},
                      {"transport 1 MiB, TCP", over_tcp.get(), large, 0.85},
                      {"transport 1 KiB, TCP", over_tcp.get(), small, 0.85}};
  for (const row& at : rows) {
    auto ours = [&at] { return our_pass(*at.messages, at.f); };
    auto theirs = [&at] { return bare_pass(at.f); };
    const comparison c = compare(ours, theirs, 5);
    r.at_least(at.name, "bare gRPC stream", c.speedup(), at.goal, "x");
  }
}

}  // namespace

SLUICE_BENCH(transport);

}  // namespace sluice::lib::bench

#endif
