// SPDX-License-Identifier: Apache-2.0
// One suite for all message transports.
#include "sluice/io/transport.hpp"

#include <catch2/catch.hpp>

#include "io/transport_story.hpp"

namespace sluice::lib::transport_test {

namespace {

task<> calls(parts p) {
  p.seen.push_back(co_await call(p.channel, "echo", ""));
  p.seen.push_back(co_await call(p.channel, "echo", "hello"));
  std::string large = frame_text(1, 3'000'000);
  auto same = co_await call(p.channel, "echo", large);
  p.seen.push_back(same == large ? "equal" : "not equal");
  p.seen.push_back(co_await call(p.channel, "length", std::move(large)));
}
task<> handler_errors(parts p) {
  for (auto method : {"unavailable", "damaged", "throws"}) p.seen.push_back(co_await call(p.channel, method));
  auto large = co_await call(p.channel, "large");
  p.seen.push_back(large.substr(0, 60));
  auto reader = co_await p.channel.open("fails", "");
  for (int i = 0; i != 3; ++i) p.seen.push_back(co_await next(*reader, 0));
  p.seen.push_back(co_await call(p.channel, "echo", "still here"));
}
task<> refusals(parts p) {
  p.seen.push_back(co_await call(p.channel, ""));
  p.seen.push_back(co_await call(p.channel, std::string(256, 'm')));
  auto large = co_await call(p.channel, "echo", std::string(kCallBytesMax + 1, 'x'));
  p.seen.push_back(large);
  stream_options none{.credit_bytes = 0}, huge{.frame_bytes_max = kFrameBytesMax + 1};
  for (auto options : {none, huge}) {
    auto opening = p.channel.open("sizes", "1", options);
    auto r = co_await opening.as_result();
    p.seen.push_back(r.why().to_string());
  }
}
constexpr auto kSizes = "8,165,0,1,1000,16383,16384,16385,65516,65536,70000,1048576,4194304,7,8";
task<> many_sizes(parts p) {
  auto reader = co_await p.channel.open("sizes", kSizes);
  for (std::size_t i = 0; i != 17; ++i) p.seen.push_back(co_await next(*reader, i));
}
task<> one_call(message_channel& c, std::size_t n, std::atomic<int>& equal) {
  std::string text = frame_text(n, n * 1000);
  auto got = co_await call(c, "echo", text);
  equal += got == text;
}
task<> read_all(message_channel& c, std::string sizes, std::size_t n, std::atomic<int>& equal) {
  auto reader = co_await c.open("sizes", std::move(sizes));
  for (std::size_t i = 0; i != n; ++i) {
    auto got = co_await next(*reader, i);
    equal += got.rfind("frame", 0) == 0;
  }
  auto end = co_await next(*reader, n);
  equal += end == "end";
}
task<> wait_and_note(message_channel& c, std::string& to) { to = co_await call(c, "wait"); }
task<> many_at_once(parts p) {
  environment* env = co_await this_environment();
  std::atomic<int> equal{0};
  std::string waited = "nothing";
  scope waiting(*env);
  waiting.spawn(wait_and_note(p.channel, waited));
  {
    scope all(*env);
    for (std::size_t i = 0; i != 30; ++i) all.spawn(one_call(p.channel, i, equal));
    for (int i = 0; i != 5; ++i) all.spawn(read_all(p.channel, "1,100000,8,30", 4, equal));
    co_await all.join();
  }
  p.seen.push_back(std::to_string(equal.load()));
  (void)co_await p.handler.begun.wait(kNever);
  waiting.request_stop();
  co_await waiting.join();
  p.seen.push_back(waited);
  (void)co_await p.handler.ended.wait(kNever);  // the stop of the caller has reached the handler
}
task<> slow_reader(parts p) {
  const std::size_t credit = 100'000, frame = 10'000;
  stream_options options{.credit_bytes = credit};
  auto reader = co_await p.channel.open("endless", std::to_string(frame), options);
  while (p.handler.written < 90'000) co_await sleep_for(1ms);  // 9 frames use the credit
  std::size_t most = 0;
  for (std::size_t got = 0; got != 60; ++got) {
    co_await sleep_for(100us);
    const std::size_t written = p.handler.written;  // counted after a frame has been sent, and perhaps read
    most = std::max(most, written - std::min(written, got * frame));
    auto text = co_await next(*reader, got);
    if (text != "frame of 10000") p.seen.push_back(text);
  }
  p.seen.push_back(most <= credit ? "bounded" : std::to_string(most));
}
task<> large_frames(parts p) {
  stream_options small{.credit_bytes = 90'000}, limited{.credit_bytes = 10, .frame_bytes_max = 1000};
  auto reader = co_await p.channel.open("sizes", "70000,1,300000,80,90000,100000", small);
  for (std::size_t i = 0; i != 7; ++i) p.seen.push_back(co_await next(*reader, i));
  auto strict = co_await p.channel.open("sizes", "1000,1001", limited);
  for (std::size_t i = 0; i != 2; ++i) p.seen.push_back(co_await next(*strict, i));
}
task<> reader_cancels(parts p) {
  auto reader = co_await p.channel.open("endless", "100");
  p.seen.push_back(co_await next(*reader, 0));
  reader->cancel();
  p.seen.push_back(co_await next(*reader, 1));
  (void)co_await p.handler.ended.wait(kNever);
  p.seen.push_back(p.handler.cancelled_at_end ? "cancelled" : "not cancelled");
  auto another = co_await p.channel.open("endless", "1000000");
  p.seen.push_back(co_await next(*another, 0));
  another.reset();
  (void)co_await p.handler.ended.wait(kNever);
}
task<> cancel_later(frame_reader& reader, test_handler& handler) {
  (void)co_await handler.begun.wait(kNever);
  reader.cancel();
}
task<> note_next(frame_reader& reader, std::string& to) { to = co_await next(reader, 0); }
task<> cancel_while_waiting(parts p) {
  auto reader = co_await p.channel.open("wait", "");
  environment* env = co_await this_environment();
  std::string got;
  scope both(*env);
  both.spawn(note_next(*reader, got));
  both.spawn(cancel_later(*reader, p.handler));
  co_await both.join();
  p.seen.push_back(got);
  (void)co_await p.handler.ended.wait(kNever);
}
task<> call_deadline(parts p) {
  std::string text;
  while (p.handler.waits == 0) {  // a call whose deadline passes before it has arrived is not handled
    auto until = co_await soon();
    text = co_await call(p.channel, "wait", "", until);
    replace(text, p.server.address(), "ADDRESS");
  }
  p.seen.push_back(text);
  (void)co_await p.handler.ended.wait(kNever);
  p.seen.push_back(co_await call(p.channel, "echo", "again"));
}
task<> next_deadline(parts p) {
  auto reader = co_await p.channel.open("late", "");
  for (int i = 0; i != 2; ++i) {
    auto until = co_await soon();
    auto text = co_await next(*reader, 0, until);
    replace(text, p.server.address(), "ADDRESS");
    p.seen.push_back(text);
  }
  p.handler.release.set();
  p.seen.push_back(co_await next(*reader, 0));
  p.seen.push_back(co_await next(*reader, 1));
}
task<> note_call(message_channel& c, std::string& to) { to = co_await call(c, "wait"); }
task<> close_after_one(frame_reader& reader, message_server& server, std::string& to) {
  to = co_await next(reader, 0);
  server.close();
  server.close();
}
task<> server_closes(parts p) {
  auto reader = co_await p.channel.open("endless", "1000");
  auto idle = co_await p.channel.open("wait", "");
  environment* env = co_await this_environment();
  std::string called, first;
  scope both(*env);
  both.spawn(note_call(p.channel, called));
  both.spawn(close_after_one(*reader, p.server, first));
  co_await both.join();
  p.seen.push_back(first);
  p.seen.push_back(called.substr(0, 22));
  std::size_t i = 1;
  for (;; ++i) {
    auto text = co_await next(*reader, i);
    if (text == "frame of 1000") continue;
    p.seen.push_back(text.substr(0, 22));
    break;
  }
  p.seen.push_back((co_await next(*reader, i)).substr(0, 22));
  p.seen.push_back((co_await next(*idle, 0)).substr(0, 22));
  auto later = co_await call(p.channel, "echo", "x");
  p.seen.push_back(later.substr(0, 22));
}
task<> call_until_answered(message_channel& c, texts& seen) {
  for (int i = 0;; ++i) {
    auto text = co_await call(c, "name");
    const bool is_answer = text.rfind("transport", 0) != 0;
    if (!is_answer && i < 100) {
      co_await sleep_for(10ms);
      continue;
    }
    seen.push_back(text);
    co_return;
  }
}
task<> two_servers(parts p) {
  test_handler other;
  *other.name = "two";
  std::string anywhere = p.server.address();
  if (anywhere.rfind("unix:", 0) == 0) anywhere += "-2";
  else if (auto colon = anywhere.rfind(':'); colon != std::string::npos) anywhere = anywhere.substr(0, colon) + ":0";
  auto second = co_await p.messages.listen(anywhere, other);
  const std::string at = second->address();
  auto channel = p.messages.connect(at);
  auto work = call_until_answered(*channel, p.seen);
  co_await serve_until(*second, std::move(work));
  p.seen.push_back(co_await call(p.channel, "name"));
  auto gone = co_await call(*channel, "name");
  p.seen.push_back(gone.substr(0, 22));
  p.seen.push_back(gone.find(at) == std::string::npos ? gone : "names the address");
  second.reset();
  // A server at the same address is found by the same channel.
  *other.name = "three";
  auto third = co_await p.messages.listen(at, other);
  auto more = call_until_answered(*channel, p.seen);
  co_await serve_until(*third, std::move(more));
}
task<> concurrent_writers(parts p) {
  stream_options small{.credit_bytes = 1000};
  auto reader = co_await p.channel.open("two writers", "200", small);
  std::size_t frames = 0;
  for (;; ++frames) {
    auto text = co_await next(*reader, 0);
    if (text == "frame of 8") continue;
    p.seen.push_back(text);
    break;
  }
  p.seen.push_back(std::to_string(frames));
}
task<> closed_before_serving(message_transport& messages, std::string at) {
  test_handler handler;
  auto server = co_await messages.listen(at, handler);
  server->close();
  co_await server->serve();
}
task<> never_served(message_transport& messages, std::string at) {
  test_handler handler;
  auto server = co_await messages.listen(at, handler);
}

}  // namespace

#if SLUICE_HAVE_GRPC
#define EACH_TRANSPORT simulated_world, tcp_world, unix_world, local_world, simulated_local_world, grpc_world
#else
#define EACH_TRANSPORT simulated_world, tcp_world, unix_world, local_world, simulated_local_world
#endif

TEMPLATE_TEST_CASE("calls return answers of any size", "[transport]", EACH_TRANSPORT) {
  TestType w;
  CHECK(told(w, calls) == texts{"", "hello", "equal", "3000000"});
}

TEMPLATE_TEST_CASE("errors of handlers reach the caller with code and text, and the connection stays usable",
                   "[transport]", EACH_TRANSPORT) {
  TestType w;
  CHECK(told(w, handler_errors) ==
        texts{"handler: unavailable: no worker is registered",
              "handler: data_loss: tfrecord: a.tfrecord at byte 12, record 3: wrong crc",
              "handler: unknown: a defect of the handler",
              std::string("handler: resource_exhausted: an answer of 67108865 bytes exceeds").substr(0, 60),
              "frame of 100", "handler: unavailable: part-3: a split is missing",
              "handler: unavailable: part-3: a split is missing", "still here"});
}

TEMPLATE_TEST_CASE("a method, a request or a limit that is too large is refused", "[transport]", EACH_TRANSPORT) {
  TestType w;
  auto seen = told(w, refusals);
  REQUIRE(seen.size() == 5);
  CHECK(seen[0] == "transport: invalid_argument: the name of a method has 1 to 255 bytes, this one has 0");
  CHECK(seen[1] == "transport: invalid_argument: the name of a method has 1 to 255 bytes, this one has 256");
  CHECK(seen[2] == "transport: resource_exhausted: echo: a request of 67108865 bytes exceeds the limit of 67108864");
  CHECK(seen[3] == "invalid_argument: credit_bytes must be 1 to 1073741824");
  CHECK(seen[4] == "invalid_argument: frame_bytes_max is 1073741825, but a frame has at most 1073741824 bytes");
}

TEMPLATE_TEST_CASE("frames of 0 bytes to 4 MiB arrive in order and unchanged", "[transport]", EACH_TRANSPORT) {
  TestType w;
  texts expected;
  for (std::size_t n : numbers_of(kSizes)) expected.push_back("frame of " + std::to_string(n));
  expected.insert(expected.end(), {"end", "end"});
  CHECK(told(w, many_sizes) == expected);
}

TEMPLATE_TEST_CASE("calls and streams at the same time do not wait for each other", "[transport]", EACH_TRANSPORT) {
  TestType w;
  CHECK(told(w, many_at_once) == texts{"55", "transport: cancelled: stopped"});
}

TEMPLATE_TEST_CASE("the frames that a slow reader has not taken are bounded by its credit", "[transport]",
                   EACH_TRANSPORT) {
  TestType w;
  CHECK(told(w, slow_reader) == texts{"bounded"});
}

TEMPLATE_TEST_CASE("a frame larger than the credit passes; one above the limit fails the write", "[transport]",
                   EACH_TRANSPORT) {
  TestType w;
  CHECK(told(w, large_frames) ==
        texts{"frame of 70000", "frame of 1", "frame of 300000", "frame of 80", "frame of 90000", "frame of 100000",
              "end", "frame of 1000",
              "handler: resource_exhausted: a frame of 1001 bytes exceeds the limit of 1000 that the client has set"});
}

TEMPLATE_TEST_CASE("a reader that cancels or is destroyed stops the handler", "[transport]", EACH_TRANSPORT) {
  TestType w;
  CHECK(told(w, reader_cancels) ==
        texts{"frame of 100", "transport: cancelled: the stream was cancelled", "cancelled", "frame of 1000000"});
}

TEMPLATE_TEST_CASE("a cancel ends a wait for a frame", "[transport]", EACH_TRANSPORT) {
  TestType w;
  CHECK(told(w, cancel_while_waiting) == texts{"transport: cancelled: the stream was cancelled"});
}

TEMPLATE_TEST_CASE("a call ends at its deadline, and its handler is stopped", "[transport]", EACH_TRANSPORT) {
  TestType w;
  CHECK(told(w, call_deadline) ==
        texts{"transport: deadline_exceeded: ADDRESS: call wait: no answer until the deadline", "again"});
}

TEMPLATE_TEST_CASE("a wait for a frame that ends at its deadline can be repeated", "[transport]", EACH_TRANSPORT) {
  TestType w;
  const std::string late = "transport: deadline_exceeded: ADDRESS: stream late: no answer until the deadline";
  CHECK(told(w, next_deadline) == texts{late, late, "frame of 10", "end"});
}

TEMPLATE_TEST_CASE("a server that closes ends its calls and streams, and its clients see a failed transport",
                   "[transport]", EACH_TRANSPORT) {
  TestType w;
  const std::string broken = "transport: unavailable";
  CHECK(told(w, server_closes) == texts{"frame of 1000", broken, broken, broken, broken, broken});
}

TEMPLATE_TEST_CASE("two servers are independent, and a channel finds a new server at its address", "[transport]",
                   EACH_TRANSPORT) {
  TestType w;
  CHECK(told(w, two_servers) == texts{"two", "one", "transport: unavailable", "names the address", "three"});
}

TEMPLATE_TEST_CASE("frames of several writers of a stream all arrive", "[transport]", EACH_TRANSPORT) {
  TestType w;
  CHECK(told(w, concurrent_writers) == texts{"end", "400"});
}

TEMPLATE_TEST_CASE("a server may be closed before it serves, or never serve", "[transport]", EACH_TRANSPORT) {
  TestType w;
  CHECK(sync_wait_result(w.rt.root(), closed_before_serving(*w.messages, w.anywhere)).ok());
  CHECK(sync_wait_result(w.rt.root(), never_served(*w.messages, w.anywhere)).ok());
}

}  // namespace sluice::lib::transport_test
