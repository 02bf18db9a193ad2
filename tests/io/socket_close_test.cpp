// SPDX-License-Identifier: Apache-2.0
// Reads and writes that need no waiting are done on workers: a close meanwhile must not hand them the next connection's descriptor.
#include <catch2/catch.hpp>

#include <atomic>

#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/io/asio_network.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::socket_close_test {

namespace {

constexpr int kConnections = 300;

struct counts {
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> of_others{0};
  std::atomic<int> ended{0};
};

/// Sends back what it receives, until there is no more of it.
task<> echo(std::unique_ptr<connection> c) {
  std::vector<char> room(4096);
  for (;;) {
    auto reading = c->read_some(room);
    auto n = co_await reading.as_result();
    if (!n.ok() || *n == 0) co_return;
    auto writing = c->write(std::span<const char>(room.data(), *n));
    status sent = co_await writing.as_result();
    if (!sent.ok()) co_return;
  }
}
task<> serve(scope& s, listener& door) {
  for (int i = 0; i != kConnections; ++i) {
    auto c = co_await door.accept();
    s.spawn(echo(std::move(c)));
  }
}
/// Sends one byte again and again, and looks whether what comes back is that.
task<> talk(connection& c, char mine, counts& seen) {
  const std::string text(1500, mine);
  std::vector<char> room(4096);
  for (;;) {
    auto writing = c.write(text);
    status sent = co_await writing.as_result();
    if (!sent.ok()) break;
    auto reading = c.read_some(room);
    auto n = co_await reading.as_result();
    if (!n.ok() || *n == 0) break;
    seen.bytes += *n;
    for (std::size_t i = 0; i != *n; ++i) seen.of_others += room[i] != mine;
  }
  ++seen.ended;
}
task<> close_soon(connection& c, int turns) {
  for (int i = 0; i != turns; ++i) co_await yield_now();
  c.close();
}
/// Three at any time, so that descriptors are used again at once.
task<> call_again_and_again(network& net, std::string address, int first, counts& seen) {
  environment* env = co_await this_environment();
  for (int i = first; i < kConnections; i += 3) {
    auto connecting = net.connect(address);
    auto c = co_await connecting;
    scope s(*env);
    s.spawn(talk(*c, static_cast<char>('a' + i % 26), seen));
    s.spawn(close_soon(*c, i % 40));
    co_await s.join();
  }
}
task<> all_calls(network& net, counts& seen) {
  environment* env = co_await this_environment();
  std::string anywhere = "127.0.0.1:0";
  auto door = co_await net.listen(anywhere);
  scope s(*env);
  s.spawn(serve(s, *door));
  for (int first = 0; first != 3; ++first) s.spawn(call_again_and_again(net, door->address(), first, seen));
  co_await s.join();
}

}  // namespace

TEST_CASE("a connection that is closed while it is read and written ends, and has no bytes of the next one",
          "[network]") {
  for (unsigned workers : {1u, 2u}) {
    runtime rt({.workers = workers});
    std::unique_ptr<network> net = make_asio_network();
    counts seen;
    sync_wait(rt, all_calls(*net, seen));
    CAPTURE(workers);
    CHECK(seen.ended == kConnections);
    CHECK(seen.of_others == 0);
    CHECK(seen.bytes > 0);
  }
}

}  // namespace sluice::lib::socket_close_test
