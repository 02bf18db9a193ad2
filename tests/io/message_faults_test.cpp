// SPDX-License-Identifier: Apache-2.0
// The transport over a network that breaks connections, and bytes that are damaged or of another protocol.
#include <catch2/catch.hpp>

#include "io/messages/message_bytes.hpp"
#include "io/transport_story.hpp"

namespace sluice::lib::message_faults_test {
using namespace transport_test;

namespace {

/// Reads streams and calls until the network has broken some of them. Returns the number of broken ones.
task<> read_until_broken(parts p, std::atomic<int>& broken, std::atomic<int>& wrong) {
  for (int i = 0; i != 6; ++i) {
    auto opening = p.channel.open("sizes", "100,20000,8,70000,1,1,5000,300000,2");
    auto reader = co_await opening.as_result();
    if (!reader.ok()) {
      wrong += reader.why().code() != status_code::unavailable;
      ++broken;
      continue;
    }
    const std::size_t sizes[] = {100, 20000, 8, 70000, 1, 1, 5000, 300000, 2};
    for (std::size_t n = 0;; ++n) {
      auto text = co_await next(**reader, n);
      if (n < 9 && text == "frame of " + std::to_string(sizes[n])) continue;
      if (n == 9 && text == "end") break;
      ++broken;
      wrong += text.rfind("transport: unavailable: ", 0) != 0;
      auto again = co_await next(**reader, n);
      wrong += again != text;
      break;
    }
    auto answer = co_await call(p.channel, "echo", "a call");
    wrong += answer != "a call" && answer.rfind("transport: unavailable: ", 0) != 0;
  }
}
task<> unplug_later(simulated_network& net, std::string address, duration after) {
  co_await sleep_for(after);
  net.unplug(address);
  co_await sleep_for(20ms);
  net.plug(address);
}
task<> lossy(simulated_world& w, std::atomic<int>& broken, std::atomic<int>& wrong) {
  test_handler handler;
  std::string at = "a:1";
  auto server = co_await w.messages->listen(at, handler);
  auto channel = w.messages->connect(at);
  std::vector<std::string> seen;
  environment* env = co_await this_environment();
  scope all(*env);
  auto clients = [](parts p, simulated_world& world, std::string address, std::atomic<int>& b,
                    std::atomic<int>& x) -> task<> {
    environment* e = co_await this_environment();
    scope some(*e);
    for (int i = 0; i != 3; ++i) some.spawn(read_until_broken(p, b, x));
    const duration after = std::chrono::microseconds(world.world.random(100'000));
    some.spawn(unplug_later(world.cables, address, after));
    co_await some.join();
    p.server.close();
  };
  all.spawn(server->serve());
  all.spawn(clients({*w.messages, handler, *server, *channel, seen}, w, at, broken, wrong));
  co_await all.join();
}

}  // namespace

TEST_CASE("over a network that breaks connections a reader gets a prefix of the frames and then a failed transport",
          "[transport][simulation]") {
  int all_broken = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    simulated_world w(seed, {.refuse_chance = 0.02, .break_chance = 0.01});
    std::atomic<int> broken{0}, wrong{0};
    CAPTURE(seed);
    status why = sync_wait_result(w.rt.root(), lossy(w, broken, wrong));
    CHECK(why.to_string() == "ok");
    CHECK(wrong == 0);
    all_broken += broken;
  }
  CHECK(all_broken > 200);
}

TEST_CASE("deadlines of calls and frames pass in virtual time", "[transport][simulation]") {
  simulated_world w;
  auto wait = [](parts p) -> task<> {
    environment* env = co_await this_environment();
    auto reader = co_await p.channel.open("late", "");
    const time_point before = env->time->now();
    auto text = co_await next(*reader, 0, before + 3h);
    p.seen.push_back(text.substr(0, 28));
    p.seen.push_back(std::to_string((env->time->now() - before) / 1h));
    auto called = co_await call(p.channel, "wait", "", before + 5h);
    p.seen.push_back(called.substr(0, 28));
    p.seen.push_back(env->time->now() - before == 5h ? "5 hours" : "another time");
  };
  const std::string late = "transport: deadline_exceeded";
  CHECK(told(w, wait) == texts{late, "3", late, "5 hours"});
}

namespace {

task<std::string> read_refusal(connection& c) {
  message_source answers(c, "the server", 0);
  auto got = co_await answers.next(kNever);
  if (!got) co_return "nothing";
  if (got->kind != message_kind::refusal) co_return "another message";
  co_return std::string(to_string(got->code)) + ": " + std::string(got->payload.view());
}
task<> garbage(network& net, message_server& server, texts& seen) {
  for (std::string bytes : {std::string("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"), std::string(100'000, '\xff')}) {
    auto c = co_await net.connect(server.address());
    auto writing = c->write(bytes);
    (void)co_await writing.as_result();
    seen.push_back(co_await read_refusal(*c));
  }
  // An order of messages that no client writes.
  auto c = co_await net.connect(server.address());
  message_sink sink(*c);
  auto putting = sink.put(message_kind::frame, status_code::ok, 0, std::string(), "x", kNever);
  co_await putting;
  co_await sink.flush(kNever);
  seen.push_back(co_await read_refusal(*c));
}
task<> answer_garbage(listener& door) {
  auto c = co_await door.accept();
  std::string bytes = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
  co_await c->write(bytes);
  std::vector<char> room(1000);
  for (;;) {
    auto n = co_await c->read_some(room);
    if (n == 0) co_return;
  }
}
task<> call_garbage(simulated_world& w, std::string& text) {
  std::string at = "g:1";
  auto door = co_await w.cables.listen(at);
  auto channel = w.messages->connect(at);
  environment* env = co_await this_environment();
  scope all(*env);
  all.spawn(answer_garbage(*door));
  auto one = [](message_channel& c, std::string& to) -> task<> { to = co_await call(c, "echo", "x"); };
  all.spawn(one(*channel, text));
  co_await all.join();
}

/// A connection that reads given bytes, in pieces of one size, and stores what is written.
class stored_connection final : public connection {
 public:
  explicit stored_connection(std::string bytes, std::size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}
  task<std::size_t> read_some(std::span<char> to, time_point) override {
    const std::size_t n = std::min({to.size(), piece_, bytes_.size() - at_});
    std::copy_n(bytes_.data() + at_, n, to.data());
    at_ += n;
    co_return n;
  }
  task<> write(std::span<const char> from, time_point) override {
    written.append(from.data(), from.size());
    co_return;
  }
  task<> finish_writing() override { co_return; }
  void close() noexcept override {}
  std::string written;

 private:
  std::string bytes_;
  std::size_t at_ = 0;
  std::size_t piece_;
};
task<std::string> three_messages() {
  stored_connection c("", 1);
  message_sink sink(c);
  for (std::size_t i = 0; i != 3; ++i) {
    std::string text = frame_text(i, 5 + i * 20);
    auto putting = sink.put(message_kind::frame, status_code::ok, 0, std::string(), text, kNever);
    co_await putting;
  }
  co_await sink.flush(kNever);
  co_return std::move(c.written);
}
/// The number of whole frames before the end or error, or -1 if one is changed; and the error.
task<std::pair<int, status>> read_three(std::string bytes, std::size_t piece) {
  stored_connection c(std::move(bytes), piece);
  message_source source(c, "peer", 1000);
  for (int i = 0;; ++i) {
    auto reading = source.next(kNever);
    auto got = co_await reading.as_result();
    if (!got.ok()) co_return std::pair(i, got.why());
    if (!*got) co_return std::pair(i, status());
    const std::size_t n = static_cast<std::size_t>(i);
    const bool is_same = (**got).kind == message_kind::frame && (**got).payload.view() == frame_text(n, 5 + n * 20);
    if (!is_same) co_return std::pair(-1, status());
  }
}

}  // namespace

TEST_CASE("a server refuses bytes that are not messages, with the reason", "[transport]") {
  simulated_world w;
  texts seen;
  auto all = [](simulated_world& world, texts& to) -> task<> {
    test_handler handler;
    std::string at = "s:1";
    auto server = co_await world.messages->listen(at, handler);
    auto work = garbage(world.cables, *server, to);
    co_await serve_until(*server, std::move(work));
  };
  sync_wait(w.rt, all(w, seen));
  const std::string damaged =
      "data_loss: a client of s:1: these bytes are not a message of sluice's protocol, or they are damaged";
  CHECK(seen == texts{damaged, damaged, "data_loss: a client of s:1: a message of 1 bytes exceeds its limit of 0"});
}

TEST_CASE("a client that calls another kind of server gets an error with the address", "[transport]") {
  simulated_world w;
  std::string text;
  sync_wait(w.rt, call_garbage(w, text));
  CHECK(text ==
        "transport: data_loss: g:1: call echo: g:1: these bytes are not a message of sluice's protocol, or they are "
        "damaged");
}

TEST_CASE("each flipped bit and each cut of a stream of messages is found", "[transport]") {
  simulation world(1);
  const std::string bytes = sync_wait(world, three_messages());
  REQUIRE(bytes.size() == 3 * 20 + 5 + 25 + 45);
  for (std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
    auto whole = sync_wait(world, read_three(bytes, piece));
    CHECK(whole.first == 3);
    CHECK(whole.second.ok());
  }
  for (std::size_t bit = 0; bit != bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    auto got = sync_wait(world, read_three(flipped, 1000));
    CAPTURE(bit);
    REQUIRE(got.first == (bit / 8 < 25 ? 0 : bit / 8 < 70 ? 1 : 2));
    REQUIRE(got.second.code() == status_code::data_loss);
  }
  for (std::size_t n = 0; n != bytes.size(); ++n) {
    auto got = sync_wait(world, read_three(bytes.substr(0, n), 1000));
    CAPTURE(n);
    const bool is_between = n == 0 || n == 25 || n == 70;
    REQUIRE(got.second.code() == (is_between ? status_code::ok : status_code::unavailable));
  }
}

}  // namespace sluice::lib::message_faults_test
