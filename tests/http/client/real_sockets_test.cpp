// SPDX-License-Identifier: Apache-2.0
// The same over real sockets and threads: what is in flight at once, on several workers, ends with the run.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "http/scripted_server.hpp"
#include "pipeline/outcome.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/io/asio_network.hpp"
#include "sluice/io/http.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::real_sockets_test {
using namespace sluice::lib::testing;
using namespace std::chrono_literals;

namespace {

std::size_t descriptors_open() {
  std::size_t n = 0;
  for (auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) n += !entry.path().empty();
  return n;
}

/// A scripted server on a thread of its own.
class server_thread {
 public:
  explicit server_thread(std::size_t objects, const std::string& bytes) {
    for (std::size_t i = 0; i != objects; ++i) server.put("/" + std::to_string(i), bytes, "\"v\"");
    server.on_request([this](const asked_for&) { requests.fetch_add(1); });
    server.on_listening([this](const std::string& at) {
      std::lock_guard lock(mutex_);
      address_ = at;
      ready_.notify_all();
    });
    thread_ = std::thread([this] { sync_wait(rt_, serve(*this)); });
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return !address_.empty(); });
  }
  ~server_thread() {
    ends_ = true;
    thread_.join();
  }
  std::string url(std::size_t i) { return "http://" + address_ + "/" + std::to_string(i); }

 private:
  static task<> end_when_told(scope& all, std::atomic<bool>& ends) {
    while (!ends) co_await sleep_for(1ms);
    all.request_stop();
  }
  static task<> serve(server_thread& me) {
    environment* env = co_await this_environment();
    scope all(*env);
    all.spawn(me.server.serve());
    all.spawn(end_when_told(all, me.ends_));
    co_await all.join();
  }

  runtime rt_{runtime_options{.workers = 1, .memory_budget_bytes = 1 << 20}};
  std::unique_ptr<network> sockets_ = make_asio_network();
  std::mutex mutex_;
  std::condition_variable ready_;
  std::string address_;
  std::atomic<bool> ends_{false};
  std::thread thread_;

 public:
  std::atomic<std::size_t> requests{0};
  scripted_server server{*sockets_, "127.0.0.1:0"};
};

std::string numbered_lines(std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i != n; ++i) text += std::to_string(i) + std::string(60, 'x') + "\n";
  return text;
}

outcome read_objects(runtime& rt, server_thread& from, std::size_t objects) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i != objects; ++i) names.push_back(from.url(i));
  auto ds = from_elements(names) | interleave(lines, {.cycle_length = 32, .parallelism = 32});
  outcome o;
  sync_wait(rt, run_into(rt, ds, {}, o));
  return o;
}

}  // namespace

TEST_CASE("objects over real sockets: every line, and nothing is left open afterwards") {
  constexpr std::size_t kObjects = 64, kLines = 5000;
  server_thread server(kObjects, numbered_lines(kLines));
  const std::size_t before = descriptors_open();
  for (int round = 0; round != 2; ++round) {
    runtime rt({.workers = 2, .memory_budget_bytes = 256 << 20});
    add_http(rt, make_asio_network);
    outcome o = read_objects(rt, server, kObjects);
    CHECK(o.why.ok());
    CHECK(o.elements.size() == kObjects * kLines);
    CHECK(rt.ledger().used_bytes() == 0);
  }
  CHECK(server.requests <= 2 * (kObjects + kObjects / 20 + 1));
  CHECK(descriptors_open() <=
        before + kObjects * 2);  // the server's ends of connections, which it closes when it notices
}

TEST_CASE("a run over real sockets that is dropped in the middle leaves nothing behind") {
  server_thread server(16, numbered_lines(100'000));
  server.server.always({.piece = 10'000, .between = 1ms});
  runtime rt({.workers = 2, .memory_budget_bytes = 256 << 20});
  add_http(rt, make_asio_network);
  for (int round = 0; round != 3; ++round) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i != 16; ++i) names.push_back(server.url(i));
    auto ds = from_elements(names) | interleave(lines, {.cycle_length = 8, .parallelism = 8});
    auto s = ds.iterate(rt);
    auto pull = [](auto& of) -> task<> {
      for (int i = 0; i != 100; ++i) {
        auto x = co_await of.next();
        CHECK(x != nullptr);
      }
    };
    sync_wait(rt, pull(s));
    sync_wait(rt, cleanup(std::move(s)));
    CHECK(rt.ledger().used_bytes() == 0);
  }
}

TEST_CASE("a stream may be destroyed after its runtime, with open files") {
  server_thread server(4, numbered_lines(100'000));
  std::optional<stream<line>> left;
  {
    runtime rt({.workers = 2, .memory_budget_bytes = 256 << 20});
    add_http(rt, make_asio_network);
    std::vector<std::string> names;
    for (std::size_t i = 0; i != 4; ++i) names.push_back(server.url(i));
    auto ds = from_elements(names) | interleave(lines, {.cycle_length = 4});
    left.emplace(ds.iterate(rt));
    auto pull = [](stream<line>& of) -> task<> {
      auto x = co_await of.next();
      CHECK(x != nullptr);
    };
    sync_wait(rt, pull(*left));
  }
  left.reset();
}

}  // namespace sluice::lib::real_sockets_test
