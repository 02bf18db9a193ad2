// SPDX-License-Identifier: Apache-2.0
// Names whose servers do not answer hold neither other names nor the end of the program.
#include "io/asio/name_look_up.hpp"

#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

namespace sluice::lib::name_look_up_test {

namespace {

/// Names "hangs" hang until the test lets them go; others have one address.
struct name_server {
  std::mutex mutex;
  std::condition_variable changed;
  bool answers = false;
  int hanging = 0;

  asio::error_code ask(const host_and_port& of, endpoints& found) {
    std::unique_lock lock(mutex);
    ++hanging;
    changed.notify_all();
    if (of.host == "hangs") changed.wait(lock, [this] { return answers; });
    --hanging;
    changed.notify_all();
    if (of.host == "unknown") return asio::error::host_not_found;
    found.emplace_back(asio::ip::make_address("10.0.0.1"), of.port);
    return {};
  }
  void wait_for_hanging(int n) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this, n] { return hanging == n; });
  }
  void let_go() {
    std::unique_lock lock(mutex);
    answers = true;
    changed.notify_all();
    changed.wait(lock, [this] { return hanging == 0; });
    answers = false;
  }
};
name_server& server() {
  static name_server one;
  return one;
}
asio::error_code ask_server(const host_and_port& of, endpoints& found) { return server().ask(of, found); }

struct looked_up {
  asio::error_code why;
  endpoints found;
};

/// As the network has it: one thread runs asio, and look-ups begin there.
struct io_thread {
  explicit io_thread(name_look_ups::blocking how = &ask_server) : names(io, how), runs([this] { io.run(); }) {}
  ~io_thread() {
    work.reset();
    runs.join();
  }
  std::future<looked_up> start(std::string host, std::uint16_t port = 80) {
    auto outcome = std::make_shared<std::promise<looked_up>>();
    auto future = outcome->get_future();
    asio::post(io, [this, outcome, of = host_and_port{std::move(host), port}] {
      names.start(of, [outcome](asio::error_code e, endpoints found) { outcome->set_value({e, std::move(found)}); });
    });
    return future;
  }
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  name_look_ups names;
  std::thread runs;
};

}  // namespace

TEST_CASE("a name whose server does not answer holds no other one, and not the end") {
  std::future<looked_up> hanging;
  {
    io_thread at;
    hanging = at.start("hangs");
    server().wait_for_hanging(1);
    const looked_up other = at.start("other", 81).get();
    CHECK(!other.why);
    REQUIRE(other.found.size() == 1);
    CHECK(other.found[0].port() == 81);
    CHECK(at.start("unknown").get().why == asio::error::host_not_found);
  }  // returns, though nobody has let it go
  CHECK_THROWS_AS(hanging.get(), std::future_error);  // who waited was dropped
  server().wait_for_hanging(1);
  server().let_go();  // finds nobody
}

TEST_CASE("an address needs no look-up, in any state of the name servers") {
  io_thread at;
  std::vector<std::future<looked_up>> hanging;
  for (std::size_t i = 0; i != name_look_ups::kAtOnceMax; ++i) hanging.push_back(at.start("hangs"));
  server().wait_for_hanging(static_cast<int>(name_look_ups::kAtOnceMax));
  for (const char* address : {"127.0.0.1", "::1"}) {
    const looked_up one = at.start(address, 7).get();
    CHECK(!one.why);
    REQUIRE(one.found.size() == 1);
    CHECK(one.found[0].address().to_string() == address);
    CHECK(one.found[0].port() == 7);
  }
  // Threads are bounded: one name more is told so at once.
  CHECK(at.start("other").get().why == asio::error::try_again);
  server().let_go();
  for (auto& one : hanging) CHECK(!one.get().why);
  CHECK(!at.start("other").get().why);
}

TEST_CASE("the system knows this machine") {
  io_thread at(&look_up_by_system);
  const looked_up here = at.start("localhost", 8080).get();
  REQUIRE(!here.why);
  REQUIRE(!here.found.empty());
  for (const auto& e : here.found) {
    CHECK(e.address().is_loopback());
    CHECK(e.port() == 8080);
  }
  CHECK(at.start("no-such-name.invalid").get().why);
}

}  // namespace sluice::lib::name_look_up_test
