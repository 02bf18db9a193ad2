// SPDX-License-Identifier: Apache-2.0
// What only the transport over gRPC has: Unix sockets, health checks, bytes of other gRPC clients and servers.
#if SLUICE_HAVE_GRPC

#include "sluice/io/grpc_transport.hpp"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "io/grpc/grpc_bytes.hpp"
#include "io/transport_story.hpp"

namespace sluice::lib::grpc_test {
using namespace transport_test;

namespace {

std::string text_of(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> parts;
  (void)bytes.Dump(&parts);
  std::string all;
  for (const grpc::Slice& part : parts) all.append(reinterpret_cast<const char*>(part.begin()), part.size());
  return all;
}
/// Calls as any other program would. Blocks the thread.
std::pair<grpc::Status, std::string> raw_call(const std::string& address, const std::string& method,
                                              grpc::ByteBuffer request) {
  grpc::GenericStub stub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  grpc::ByteBuffer answer;
  grpc::Status outcome;
  grpc::CompletionQueue queue;
  auto calling = stub.PrepareUnaryCall(&context, method, request, &queue);
  calling->StartCall();
  calling->Finish(&answer, &outcome, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return {outcome, outcome.ok() ? text_of(answer) : std::string()};
}
grpc::ByteBuffer bytes_of(std::string_view text) {
  grpc::Slice whole(text.data(), text.size());
  return {&whole, 1};
}

task<> calls_and_frames(parts p) {
  p.seen.push_back(p.server.address());
  p.seen.push_back(co_await call(p.channel, "echo", "hello"));
  auto reader = co_await p.channel.open("sizes", "8,100000");
  for (std::size_t i = 0; i != 3; ++i) p.seen.push_back(co_await next(*reader, i));
}
task<> as_others_call(parts p) {
  auto health = raw_call(p.server.address(), "/grpc.health.v1.Health/Check", bytes_of(""));
  p.seen.push_back(health.second == "\x08\x01" ? "serving" : health.first.error_message());
  auto unknown = raw_call(p.server.address(), "/other.Service/method", bytes_of("x"));
  p.seen.push_back(unknown.first.error_message());
  auto message = grpc_message(message_kind::call, status_code::ok, 4, "echo", "hello");
  std::string damaged = text_of(message);
  damaged.back() ^= 1;
  auto refused = raw_call(p.server.address(), "/sluice.Messages/call", bytes_of(damaged));
  p.seen.push_back(refused.first.error_code() == grpc::StatusCode::DATA_LOSS ? "data_loss" : "another code");
  const std::string text = refused.first.error_message();
  p.seen.push_back(text.substr(0, text.find(':')));  // the peer: ipv4:127.0.0.1:port
  p.seen.push_back(text.substr(text.find("the checksum"), 41));
  auto misplaced = grpc_message(message_kind::frame, status_code::ok, 0, "x", {});
  p.seen.push_back(raw_call(p.server.address(), "/sluice.Messages/stream", misplaced).first.error_code() ==
                           grpc::StatusCode::DATA_LOSS
                       ? "data_loss"
                       : "another code");
  co_return;
}
task<> listen_at(message_transport& messages, std::string address) {
  test_handler handler;
  auto server = co_await messages.listen(std::move(address), handler);
}
task<> listen_twice(message_transport& messages) {
  test_handler handler;
  std::string anywhere = "127.0.0.1:0";
  auto first = co_await messages.listen(anywhere, handler);
  auto second = co_await messages.listen(first->address(), handler);
}

}  // namespace

TEST_CASE("a server over gRPC may listen at a Unix socket", "[transport][grpc]") {
  grpc_world w;
  w.anywhere = "unix:/tmp/sluice-grpc-test-" + std::to_string(getpid()) + ".sock";
  CHECK(told(w, calls_and_frames) == texts{w.anywhere, "hello", "frame of 8", "frame of 100000", "end"});
}

TEST_CASE("a server over gRPC answers health checks, and refuses what is not of its protocol", "[transport][grpc]") {
  grpc_world w;
  CHECK(told(w, as_others_call) == texts{"serving", "unknown method /other.Service/method", "data_loss", "ipv4",
                                         "the checksum of a message of 17 bytes is ", "data_loss"});
}

TEST_CASE("an address that gRPC cannot listen at is reported", "[transport][grpc]") {
  grpc_world w;
  CHECK(sync_wait_result(w.rt.root(), listen_at(*w.messages, "nowhere")).code() == status_code::invalid_argument);
  status taken = sync_wait_result(w.rt.root(), listen_twice(*w.messages));
  CHECK(taken.code() == status_code::unavailable);
  CHECK_THAT(taken.to_string(), Catch::Contains("listen: Address already in use"));
}

TEST_CASE("each flipped bit of a gRPC message is found", "[transport][grpc]") {
  const std::string whole = text_of(grpc_frame(slice::copy_of("some bytes of a frame")));
  auto same = read_grpc_message(bytes_of(whole));
  REQUIRE(same.ok());
  CHECK(same->payload.view() == "some bytes of a frame");
  for (std::size_t bit = 0; bit != whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    CAPTURE(bit);
    REQUIRE(read_grpc_message(bytes_of(flipped)).why().code() == status_code::data_loss);
  }
  for (std::size_t n = 0; n != whole.size(); ++n) REQUIRE(!read_grpc_message(bytes_of(whole.substr(0, n))).ok());
}

}  // namespace sluice::lib::grpc_test

#endif
