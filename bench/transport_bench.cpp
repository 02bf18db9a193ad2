// SPDX-License-Identifier: Apache-2.0
// Frames per second of the message transports, beside a stream of gRPC without anything else. Each side has its own
// runtime, and both are in this process.
#if SLUICE_HAVE_GRPC && SLUICE_HAVE_ASIO

#include "bench/bare_grpc_stream.hpp"
#include "bench/harness.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/io/asio_network.hpp"
#include "sluice/io/grpc_transport.hpp"
#include "sluice/io/message_transport.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::bench {
namespace {

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
    auto theirs = [&at] { return bare_grpc_stream(at.f); };
    const comparison c = compare(ours, theirs, 5);
    r.at_least(at.name, "bare gRPC stream", c.speedup(), at.goal, "x");
  }
}

}  // namespace

SLUICE_BENCH(transport);

}  // namespace sluice::lib::bench

#endif
