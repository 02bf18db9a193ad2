// SPDX-License-Identifier: Apache-2.0
// One suite for both networks; then what only the simulated one can show.
#include "sluice/io/network.hpp"

#include <catch2/catch.hpp>

#include <atomic>

#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep.hpp"
#include "sluice/io/asio_network.hpp"
#include "sluice/io/simulated_network.hpp"
#include "sluice/runtime/runtime.hpp"

using namespace sluice::lib;
using namespace std::chrono_literals;

namespace {

struct simulated_world {
  simulation world{20261121};
  runtime rt{world};
  simulated_network cables{world};
  network& net() { return cables; }
};
struct real_world {
  runtime rt{
      runtime_options{.workers = 2, .memory_budget_bytes = 1 << 20, .io = {}, .blocking_threads_max = 4, .seed = 1}};
  std::unique_ptr<network> sockets = make_asio_network();
  network& net() { return *sockets; }
};

std::string message(std::size_t bytes) {
  std::string s(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) s[i] = static_cast<char>(i * 131 % 251);
  return s;
}

/// Sends back what it receives until the peer ends.
task<> echo(std::unique_ptr<connection> c) {
  std::vector<char> room(10'000);
  for (;;) {
    auto n = co_await c->read_some(room);
    if (n == 0) break;
    std::span<const char> got(room.data(), n);
    co_await c->write(got);
  }
  co_await c->finish_writing();
}
task<> serve(scope& s, listener& door, int calls) {
  for (int i = 0; i < calls; ++i) {
    auto c = co_await door.accept();
    s.spawn(echo(std::move(c)));
  }
}
task<> send_all(connection& c, const std::string& text) {
  co_await c.write(text);
  co_await c.finish_writing();
}
task<> receive_all(connection& c, std::string& got) {
  std::vector<char> room(777);
  for (;;) {
    auto n = co_await c.read_some(room);
    if (n == 0) co_return;
    got.append(room.data(), n);
  }
}
task<> call(network& net, std::string address, std::size_t bytes, std::atomic<int>& equal) {
  auto c = co_await net.connect(address);
  std::string text = message(bytes), got;
  environment* env = co_await this_environment();
  scope s(*env);
  s.spawn(send_all(*c, text));
  s.spawn(receive_all(*c, got));
  co_await s.join();
  equal += got == text;
}
task<int> several_calls(network& net, int calls, std::size_t bytes) {
  std::string anywhere = "127.0.0.1:0";
  auto door = co_await net.listen(anywhere);
  std::atomic<int> equal{0};
  environment* env = co_await this_environment();
  scope s(*env);
  s.spawn(serve(s, *door, calls));
  for (int i = 0; i < calls; ++i) s.spawn(call(net, door->address(), bytes + static_cast<std::size_t>(i), equal));
  co_await s.join();
  co_return equal.load();
}
task<> connect_to(network& net, std::string address) {
  auto c = co_await net.connect(address);
  (void)c;
}
task<std::string> address_of_closed_listener(network& net) {
  std::string anywhere = "127.0.0.1:0";
  auto door = co_await net.listen(anywhere);
  co_return door->address();
}
task<> read_for_ever(connection& c) {
  char byte[1];
  auto n = co_await c.read_some(byte);
  (void)n;
}
task<> accept_for_ever(listener& door) {
  auto c = co_await door.accept();
  (void)c;
}
task<> stop_after(scope& s, duration d) {
  co_await sleep_for(d);
  s.request_stop();
}
/// A reader and an acceptor that nobody ever serves, stopped.
task<> stop_waits(network& net) {
  std::string anywhere = "127.0.0.1:0";
  auto door = co_await net.listen(anywhere);
  auto c = co_await net.connect(door->address());
  auto accepted = co_await door->accept();
  environment* env = co_await this_environment();
  scope s(*env);
  s.spawn(read_for_ever(*c));
  s.spawn(accept_for_ever(*door));
  s.spawn(stop_after(s, 5ms));
  co_await s.join();
}
task<std::string> read_exactly_from_short_peer(network& net) {
  std::string anywhere = "127.0.0.1:0", three = "abc";
  auto door = co_await net.listen(anywhere);
  auto c = co_await net.connect(door->address());
  auto accepted = co_await door->accept();
  co_await accepted->write(three);
  co_await accepted->finish_writing();
  char room[5];
  auto read = read_exactly(*c, room);
  status why = co_await read.as_result();
  co_return why.to_string();
}

}  // namespace

TEMPLATE_TEST_CASE("several connections at once carry every byte both ways", "[network]", simulated_world, real_world) {
  TestType w;
  CHECK(sync_wait(w.rt, several_calls(w.net(), 1, 0)) == 1);
  CHECK(sync_wait(w.rt, several_calls(w.net(), 5, 300'000)) == 5);
}

TEMPLATE_TEST_CASE("nobody listening is unavailable and names the address", "[network]", simulated_world, real_world) {
  TestType w;
  std::string address = sync_wait(w.rt, address_of_closed_listener(w.net()));
  status why = sync_wait_result(w.rt.root(), connect_to(w.net(), address));
  CHECK(why.code() == status_code::unavailable);
  CHECK_THAT(why.to_string(), Catch::Contains(address));
}

TEMPLATE_TEST_CASE("an address that is none is refused", "[network]", simulated_world, real_world) {
  TestType w;
  for (auto text : {"nowhere", ":80", "a:b", "a:70000"})
    CHECK(sync_wait_result(w.rt.root(), connect_to(w.net(), text)).code() == status_code::invalid_argument);
}

TEMPLATE_TEST_CASE("a stop ends waits for bytes and for callers", "[network]", simulated_world, real_world) {
  TestType w;
  CHECK(sync_wait_result(w.rt.root(), stop_waits(w.net())).ok());
}

TEMPLATE_TEST_CASE("a peer that ends early is told with how much there was", "[network]", simulated_world, real_world) {
  TestType w;
  std::string why = sync_wait(w.rt, read_exactly_from_short_peer(w.net()));
  CHECK(why == "unavailable: the peer ended after 3 of 5 bytes");
}

TEST_CASE("addresses are split at the last colon", "[network]") {
  CHECK(parse_address("[::1]:80").value().host == "::1");
  CHECK(parse_address("localhost:65535").value().port == 65535);
}

TEST_CASE("an unplugged address cuts its connections and refuses new ones until it is plugged in",
          "[network][simulation]") {
  simulated_world w;
  auto story = [](simulated_network& net, std::vector<status>& seen) -> task<> {
    std::string at = "a:1";
    auto door = co_await net.listen(at);
    auto c = co_await net.connect(at);
    auto accepted = co_await door->accept();
    net.unplug(at);
    auto read = read_for_ever(*c);
    status cut = co_await read.as_result();
    seen.push_back(cut);
    auto again = connect_to(net, at);
    status refused = co_await again.as_result();
    seen.push_back(refused);
    net.plug(at);
    auto third = connect_to(net, at);
    status fine = co_await third.as_result();
    seen.push_back(fine);
  };
  std::vector<status> seen;
  sync_wait(w.rt, story(w.cables, seen));
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].to_string() == "unavailable: connection lost");
  CHECK(seen[1].code() == status_code::unavailable);
  CHECK(seen[2].ok());
}

TEST_CASE("a lossy simulated network breaks some calls, and the same ones for the same seed", "[network][simulation]") {
  auto outcome = [](std::uint64_t seed) {
    simulation world(seed);
    runtime rt(world);
    simulated_network net(world, {.refuse_chance = 0.05, .break_chance = 0.05});
    status why = sync_wait_result(rt.root(), several_calls(net, 4, 20000)).why();
    return std::pair(why.to_string(), world.trace());
  };
  int broken = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    auto first = outcome(seed), second = outcome(seed);
    CHECK(first == second);
    broken += first.first != "ok";
  }
  CHECK(broken > 0);
}
