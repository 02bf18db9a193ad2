// SPDX-License-Identifier: Apache-2.0
// A handler for tests, and worlds with a transport in which a test tells its story to a served handler:
//
//   task<> calls(parts p) { p.seen.push_back(co_await call(p.channel, "echo", "hello")); }
//   simulated_world w;
//   CHECK(told(w, calls) == texts{"hello"});
#pragma once

#include <unistd.h>

#include <atomic>

#include "io/messages/wake_event.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/io/asio_network.hpp"
#if SLUICE_HAVE_GRPC
#include "sluice/io/grpc_transport.hpp"
#endif
#include "sluice/io/message_transport.hpp"
#include "sluice/io/simulated_network.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::transport_test {
using namespace std::chrono_literals;

inline const runtime_options kTwoWorkers{
    .workers = 2, .memory_budget_bytes = 1 << 20, .io = {}, .blocking_threads_max = 4, .seed = 1};

struct simulated_world {
  explicit simulated_world(std::uint64_t seed = 20261128, simulated_network_options options = {})
      : world(seed), cables(world, options) {}
  simulation world;
  runtime rt{world};
  simulated_network cables;
  std::unique_ptr<message_transport> messages = make_message_transport(cables);
  std::string anywhere = "here:0";
};
struct tcp_world {
  runtime rt{kTwoWorkers};
  std::unique_ptr<network> sockets = make_asio_network();
  std::unique_ptr<message_transport> messages = make_message_transport(*sockets);
  std::string anywhere = "127.0.0.1:0";
};
struct unix_world {
  runtime rt{kTwoWorkers};
  std::unique_ptr<network> sockets = make_asio_network();
  std::unique_ptr<message_transport> messages = make_message_transport(*sockets);
  std::string anywhere = "unix:/tmp/sluice-test-" + std::to_string(getpid()) + ".sock";
};
#if SLUICE_HAVE_GRPC
struct grpc_world {
  runtime rt{kTwoWorkers};
  std::unique_ptr<message_transport> messages = make_grpc_transport();
  std::string anywhere = "127.0.0.1:0";
};
#endif
struct local_world {
  runtime rt{kTwoWorkers};
  std::unique_ptr<message_transport> messages = make_local_transport();
  std::string anywhere;
};
struct simulated_local_world {
  simulation world{7};
  runtime rt{world};
  std::unique_ptr<message_transport> messages = make_local_transport();
  std::string anywhere;
};

/// The bytes of a frame are a function of its ordinal and size.
inline std::string frame_text(std::size_t ordinal, std::size_t bytes) {
  std::string s(bytes, '\0');
  for (std::size_t i = 0; i != bytes; ++i) s[i] = static_cast<char>((i + 1) * (ordinal + 3) * 131 % 251);
  return s;
}
inline std::vector<std::size_t> numbers_of(const std::string& text) {
  std::vector<std::size_t> all;
  for (const char* at = text.c_str(); *at;) {
    char* end = nullptr;
    all.push_back(std::strtoull(at, &end, 10));
    at = *end ? end + 1 : end;
  }
  return all;
}

/// Owns what can only be moved, as handlers of services do.
class test_handler final : public message_handler {
 public:
  task<std::string> on_call(std::string method, std::string request) override {
    if (method == "echo") co_return request;
    if (method == "length") co_return std::to_string(request.size());
    if (method == "name") co_return *name;
    if (method == "large") co_return std::string(kCallBytesMax + 1, 'x');
    if (method == "unavailable") co_await fail(unavailable_error("no worker is registered"));
    if (method == "damaged")
      co_await fail(data_loss_error("wrong crc").in_stage("tfrecord").in_file("a.tfrecord", 12, 3));
    if (method == "throws") throw std::runtime_error("a defect of the handler");
    if (method == "wait") co_await wait_until_stopped();
    co_return "unknown method " + method;
  }
  task<> on_stream(std::string method, std::string request, frame_writer& out) override {
    std::vector<std::size_t> sizes = numbers_of(request);
    if (method == "sizes") {
      for (std::size_t i = 0; i != sizes.size(); ++i) co_await write(out, i, sizes[i]);
    } else if (method == "fails") {
      co_await write(out, 0, 100);
      co_await fail(unavailable_error("a split is missing").in_file("part-3"));
    } else if (method == "endless") {
      status why = co_await endless(out, sizes[0]).as_result();
      cancelled_at_end = out.is_cancelled();
      ended.set();
      co_await fail(std::move(why));
    } else if (method == "late") {
      (void)co_await release.wait(kNever);
      co_await write(out, 0, 10);
    } else if (method == "two writers") {
      environment* env = co_await this_environment();
      scope both(*env);
      both.spawn(several(*this, out, sizes[0]));
      both.spawn(several(*this, out, sizes[0]));
      co_await both.join();
    } else if (method == "wait") {
      co_await wait_until_stopped();
    }
  }
  std::unique_ptr<std::string> name = std::make_unique<std::string>("one");
  wake_event begun, ended, release;
  std::atomic<int> waits{0};  ///< handlers that have begun to wait
  std::atomic<bool> cancelled_at_end{false};
  std::atomic<std::size_t> written{0};

 private:
  static task<> wait_for(wake_event& event) { (void)co_await event.wait(kNever); }
  task<> write(frame_writer& out, std::size_t ordinal, std::size_t bytes) {
    slice frame = slice::copy_of(frame_text(ordinal, bytes));
    co_await out.write(std::move(frame));
    written += bytes;
  }
  static task<> several(test_handler& me, frame_writer& out, std::size_t n) {
    for (std::size_t i = 0; i != n; ++i) co_await me.write(out, 0, 8);
  }
  task<> endless(frame_writer& out, std::size_t bytes) {
    for (std::size_t i = 0;; ++i) co_await write(out, i, bytes);
  }
  task<> wait_until_stopped() {
    ++waits;
    begun.set();
    wake_event never;
    auto sleeping = wait_for(never);
    status why = co_await sleeping.as_result();
    ended.set();
    co_await fail(std::move(why));
  }
};

/// A served handler and a channel to it.
struct parts {
  message_transport& messages;
  test_handler& handler;
  message_server& server;
  message_channel& channel;
  std::vector<std::string>& seen;
};
using story = task<> (*)(parts);

inline task<> tell_and_close(parts p, story what) {
  auto telling = what(p);
  status why = co_await telling.as_result();
  p.server.close();
  if (!why.ok()) co_await fail(std::move(why));
}
inline task<> in_scope(message_transport& messages, std::string at, story what, std::vector<std::string>& seen) {
  test_handler handler;
  auto server = co_await messages.listen(at, handler);
  auto channel = messages.connect(server->address());
  environment* env = co_await this_environment();
  scope all(*env);
  all.spawn(server->serve());
  all.spawn(tell_and_close({messages, handler, *server, *channel, seen}, what));
  co_await all.join();
}
/// Runs the story with a server, and returns what it has seen.
template <class World> std::vector<std::string> told(World& w, story what) {
  std::vector<std::string> seen;
  sync_wait(w.rt, in_scope(*w.messages, w.anywhere, what, seen));
  return seen;
}
using texts = std::vector<std::string>;

inline std::string text_of(const result<std::string>& r) { return r.ok() ? *r : "handler: " + r.why().to_string(); }
inline std::string text_of(const result<result<std::string>>& r) {
  return r.ok() ? text_of(*r) : "transport: " + r.why().to_string();
}
inline task<std::string> call(message_channel& c, std::string method, std::string request = {},
                              time_point until = kNever) {
  auto calling = c.call(std::move(method), std::move(request), until);
  auto r = co_await calling.as_result();
  co_return text_of(r);
}
/// "frame 3", or "end", or the error.
inline task<std::string> next(frame_reader& reader, std::size_t ordinal, time_point until = kNever) {
  auto reading = reader.next(until);
  auto r = co_await reading.as_result();
  if (!r.ok()) co_return "transport: " + r.why().to_string();
  if (!r->ok()) co_return "handler: " + r->why().to_string();
  if (!**r) co_return "end";
  const std::size_t bytes = (***r).size();
  if ((***r).view() != frame_text(ordinal, bytes)) co_return "a changed frame";
  co_return "frame of " + std::to_string(bytes);
}
inline task<time_point> soon(duration d = 30ms) {
  environment* env = co_await this_environment();
  co_return env->time->now() + d;
}
inline void replace(std::string& in, const std::string& what, const std::string& with) {
  for (std::size_t at; (at = in.find(what)) != std::string::npos;) in.replace(at, what.size(), with);
}

inline task<> serve_until(message_server& server, task<> work) {
  task<> mine = std::move(work);
  environment* env = co_await this_environment();
  scope all(*env);
  auto then_close = [](message_server& s, task<> t) -> task<> {
    task<> first = std::move(t);
    co_await first;
    s.close();
  };
  all.spawn(server.serve());
  all.spawn(then_close(server, std::move(mine)));
  co_await all.join();
}

}  // namespace sluice::lib::transport_test
