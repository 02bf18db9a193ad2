// SPDX-License-Identifier: Apache-2.0
// One suite for both networks; then what only the simulated one can show.
#include "sluice/io/network.hpp"

#include <catch2/catch.hpp>

#include <atomic>

#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/io/asio_network.hpp"
#include "sluice/io/simulated_network.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::network_test {
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

TEMPLATE_TEST_CASE("a refused connection is unavailable and names the address", "[network]", simulated_world,
                   real_world) {
  TestType w;
  std::string address = sync_wait(w.rt, address_of_closed_listener(w.net()));
  status why = sync_wait_result(w.rt.root(), connect_to(w.net(), address));
  CHECK(why.code() == status_code::unavailable);
  CHECK_THAT(why.to_string(), Catch::Contains(address));
}

TEMPLATE_TEST_CASE("an invalid address is refused", "[network]", simulated_world, real_world) {
  TestType w;
  for (auto text : {"nowhere", ":80", "a:b", "a:70000"})
    CHECK(sync_wait_result(w.rt.root(), connect_to(w.net(), text)).code() == status_code::invalid_argument);
}

TEMPLATE_TEST_CASE("a stop ends waits for bytes and for callers", "[network]", simulated_world, real_world) {
  TestType w;
  CHECK(sync_wait_result(w.rt.root(), stop_waits(w.net())).ok());
}

TEMPLATE_TEST_CASE("a peer that ends early is reported with the number of bytes", "[network]", simulated_world,
                   real_world) {
  TestType w;
  std::string why = sync_wait(w.rt, read_exactly_from_short_peer(w.net()));
  CHECK(why == "unavailable: the peer ended after 3 of 5 bytes");
}

namespace {

/// What several reads behind the end give, and writes to who is no longer there.
task<std::string> go_on_behind_the_end(network& net) {
  std::string anywhere = "127.0.0.1:0", three = "abc", said;
  auto door = co_await net.listen(anywhere);
  auto c = co_await net.connect(door->address());
  auto accepted = co_await door->accept();
  co_await accepted->write(three);
  co_await accepted->finish_writing();
  std::vector<char> room(3);
  co_await read_exactly(*c, room);
  for (int i = 0; i != 3; ++i) {
    auto n = co_await c->read_some(room);
    said += std::to_string(n) + " ";
  }
  accepted.reset();
  for (int i = 0, failed = 0; failed != 3; ++i) {
    if (i == 10'000) co_return said + "writes go on";
    auto writing = c->write(three);
    status sent = co_await writing.as_result();
    if (sent.code() == status_code::unavailable) ++failed;
    co_await sleep_for(1ms);  // the peer is closed in the background
  }
  co_return said + "writes fail";
}

}  // namespace

TEMPLATE_TEST_CASE("reads after the end, and writes to a closed peer, fail again with the same error", "[network]",
                   simulated_world, real_world) {
  TestType w;
  CHECK(sync_wait(w.rt, go_on_behind_the_end(w.net())) == "0 0 0 writes fail");
}

namespace {

constexpr duration kPatience = 30ms;

task<time_point> soon(duration patience = kPatience) {
  environment* env = co_await this_environment();
  co_return env->time->now() + patience;
}
/// Each wait that nobody will end, with a deadline; then the same connection, served.
task<> wait_in_vain(network& net, std::vector<status>& seen) {
  std::string anywhere = "127.0.0.1:0";
  auto door = co_await net.listen(anywhere);
  auto c = co_await net.connect(door->address());
  auto accepted = co_await door->accept();
  auto until = co_await soon();
  auto accepting = door->accept(until);
  auto nobody = co_await accepting.as_result();
  seen.push_back(nobody.why());

  std::vector<char> room(10);
  until = co_await soon();
  auto reading = c->read_some(room, until);
  auto nothing = co_await reading.as_result();
  seen.push_back(nothing.why());
  until = co_await soon();
  auto exactly = read_exactly(*c, room, until);
  status short_read = co_await exactly.as_result();
  seen.push_back(short_read);

  // More than sockets keep for a peer that does not read.
  std::string much(std::size_t{64} << 20, 'x');
  until = co_await soon();
  auto writing = accepted->write(much, until);
  status not_written = co_await writing.as_result();
  seen.push_back(not_written);
}
/// A read that nobody answered in time has taken nothing: the next one gets it all.
task<std::string> read_after_a_deadline(network& net) {
  std::string anywhere = "127.0.0.1:0", text = "abc";
  auto door = co_await net.listen(anywhere);
  auto c = co_await net.connect(door->address());
  auto accepted = co_await door->accept();
  std::vector<char> room(10);
  auto until = co_await soon();
  auto reading = c->read_some(room, until);
  auto nothing = co_await reading.as_result();
  co_await accepted->write(text);
  std::string got = nothing.ok() ? "too early " : "";
  while (got.size() < text.size()) {
    until = co_await soon(60s);
    auto n = co_await c->read_some(room, until);
    got.append(room.data(), n);
  }
  auto calling = net.connect(door->address());
  auto another = co_await calling;
  until = co_await soon(60s);
  auto served = co_await door->accept(until);
  co_return got;
}
/// Each call, with a deadline that has passed.
task<> come_too_late(network& net, std::vector<status>& seen) {
  std::string anywhere = "127.0.0.1:0", text = "abc";
  environment* env = co_await this_environment();
  time_point past = env->time->now();
  auto door = co_await net.listen(anywhere);
  auto c = co_await net.connect(door->address());
  auto listening = net.listen(anywhere, past);
  auto no_door = co_await listening.as_result();
  seen.push_back(no_door.why());
  auto connecting = net.connect(door->address(), past);
  auto no_connection = co_await connecting.as_result();
  seen.push_back(no_connection.why());
  auto accepting = door->accept(past);
  auto nobody = co_await accepting.as_result();
  seen.push_back(nobody.why());
  auto accepted = co_await door->accept();
  auto writing = accepted->write(text, past);
  status not_written = co_await writing.as_result();
  seen.push_back(not_written);
  std::vector<char> room(10);
  auto reading = c->read_some(room, past);
  auto nothing = co_await reading.as_result();
  seen.push_back(nothing.why());
}

}  // namespace

TEMPLATE_TEST_CASE("a wait for a caller, for bytes and for room ends at its deadline", "[network]", simulated_world,
                   real_world) {
  TestType w;
  std::vector<status> seen;
  sync_wait(w.rt, wait_in_vain(w.net(), seen));
  REQUIRE(seen.size() == 4);
  const char* what[] = {"accept", "read", "read", "write"};
  for (std::size_t i = 0; i != seen.size(); ++i) {
    CAPTURE(i, seen[i].to_string());
    CHECK(seen[i].code() == status_code::deadline_exceeded);
    CHECK_THAT(seen[i].to_string(), Catch::EndsWith(std::string(": ") + what[i] + ": no answer until the deadline"));
    CHECK_THAT(seen[i].to_string(), Catch::Contains("127.0.0.1:"));
  }
}

TEMPLATE_TEST_CASE("a call that ended at its deadline may be tried again, and nothing is lost", "[network]",
                   simulated_world, real_world) {
  TestType w;
  CHECK(sync_wait(w.rt, read_after_a_deadline(w.net())) == "abc");
}

TEMPLATE_TEST_CASE("a call whose deadline has passed fails at once", "[network]", simulated_world, real_world) {
  TestType w;
  std::vector<status> seen;
  sync_wait(w.rt, come_too_late(w.net(), seen));
  REQUIRE(seen.size() == 5);
  for (const status& why : seen) CHECK(why.code() == status_code::deadline_exceeded);
}

TEST_CASE("simulated waits end at the very moment of their deadlines", "[network][simulation]") {
  simulated_world w;
  std::vector<status> seen;
  auto before = w.world.elapsed();
  sync_wait(w.rt, wait_in_vain(w.net(), seen));
  auto took = w.world.elapsed() - before;
  CHECK(took >= 4 * kPatience);
  CHECK(took <= 4 * kPatience + 10ms);  // and the connect

  w.cables.silence("far:1");
  auto connect_soon = [](network& net) -> task<> {
    std::string far = "far:1";
    auto until = co_await soon();
    auto c = co_await net.connect(far, until);
  };
  before = w.world.elapsed();
  status why = sync_wait_result(w.rt.root(), connect_soon(w.net()));
  CHECK(why.to_string() == "deadline_exceeded: far:1: connect: no answer until the deadline");
  CHECK(w.world.elapsed() - before == kPatience);
}

TEST_CASE("many reads with deadlines that pass while the bytes arrive lose none of them", "[network]") {
  real_world w;
  auto talk = [](network& net) -> task<std::size_t> {
    std::string anywhere = "127.0.0.1:0";
    auto door = co_await net.listen(anywhere);
    auto c = co_await net.connect(door->address());
    auto accepted = co_await door->accept();
    environment* env = co_await this_environment();
    std::vector<char> room(64);
    std::string byte = "x";
    std::size_t got = 0, given = 0;
    for (int i = 0; i != 2'000; ++i) {
      co_await accepted->write(byte);
      ++given;
      // From nothing to some of what a byte takes to arrive.
      time_point until = env->time->now() + std::chrono::microseconds(i % 50);
      auto reading = c->read_some(room, until);
      auto n = co_await reading.as_result();
      if (n.ok()) got += *n;
    }
    co_await accepted->finish_writing();
    for (;;) {
      auto n = co_await c->read_some(room);
      if (n == 0) break;
      got += n;
    }
    co_return given - got;
  };
  CHECK(sync_wait(w.rt, talk(*w.sockets)) == 0);
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

}  // namespace sluice::lib::network_test
