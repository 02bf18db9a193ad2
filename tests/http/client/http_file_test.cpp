// SPDX-License-Identifier: Apache-2.0
// Objects read by ranges, over a server that does what it must not do: the bytes are the object's, or the error says what and where.
#include <catch2/catch.hpp>

#include "http/http_world.hpp"
#include "http/whole_object.hpp"
#include "io/http/http_file.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/io/read_file.hpp"

namespace sluice::lib::http_file_test {
using namespace sluice::lib::testing;
using namespace std::chrono_literals;

namespace {

/// What a script makes of reading an object of three MiB: the first answer has one, the second two of them.
struct outcome_of {
  std::string bytes;
  status why;
  std::size_t requests = 0;
  std::uint64_t retries = 0;
  bool all_closed = false;
  duration took{};
};

outcome_of read_with(std::vector<deed> script, std::size_t size = 3 * kMiB, http_options options = {}) {
  http_world w(7, std::move(options));
  w.server.put("/a", some_bytes(size), "\"v1\"");
  w.server.script(std::move(script));
  outcome_of o;
  std::optional<std::string> got;
  o.why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, 2 * kMiB), got));
  if (got) o.bytes = *std::move(got);
  o.requests = w.server.log().size();
  o.retries = w.files->counts().retries;
  o.took = w.world.elapsed();
  o.all_closed = w.server.connections_open() == 0;
  return o;
}

void check_whole(const outcome_of& o, std::size_t size = 3 * kMiB) {
  INFO(o.why.to_string());
  CHECK(o.why.ok());
  CHECK((o.bytes == some_bytes(size)));
}

}  // namespace

TEST_CASE("an object has the server's bytes, for any requested pieces") {
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, kMiB - 1, kMiB, kMiB + 1, 3 * kMiB + 5})
    for (std::size_t piece : {std::size_t{100'000}, kMiB, 4 * kMiB}) {
      INFO(size << " " << piece);
      http_world w;
      w.server.put("/a", some_bytes(size), "\"v1\"");
      CHECK((w.run(read_all(*w.files, kUrl, piece)) == some_bytes(size)));
      const std::size_t asked = std::max(piece, kMiB);  // less than a MiB is never asked for
      const std::size_t behind = size > kMiB ? (size - kMiB + asked - 1) / asked : 0;
      CHECK(w.server.log().size() == 1 + behind);
      for (std::size_t i = 1; i < w.server.log().size(); ++i) CHECK(w.server.log()[i].if_match == "\"v1\"");
      CHECK(w.files->counts().retries == 0);
    }
}

TEST_CASE("requests ask for identity encoding") {
  http_options options;
  options.headers = {{"Authorization", "Bearer t"}};
  http_world w(1, options);
  w.server.put("/a%20b?c", "hello", "\"v1\"");
  CHECK(w.run(read_all(*w.files, "http://objects/a b?c", 10)) == "hello");
  const std::string head = w.server.log().at(0).head;
  CHECK_THAT(head, Catch::StartsWith("GET /a%20b?c HTTP/1.1\r\nHost: objects\r\n"));
  CHECK_THAT(head,
             Catch::Contains("\r\nAccept-Encoding: identity\r\n") && Catch::Contains("\r\nRange: bytes=0-1048575\r\n"));
  CHECK_THAT(head, Catch::Contains("\r\nAuthorization: Bearer t\r\n") && !Catch::Contains("If-Match"));
}

TEST_CASE("a connection that is idle for four seconds is closed") {
  http_world w;
  w.server.put("/a", "hello", "\"v1\"");
  auto client = [](http_world& in) -> task<> {
    for (int i = 0; i != 3; ++i) {
      auto reading = read_all(*in.files, kUrl, 10);
      const std::string got = co_await reading;
      CHECK(got == "hello");
      co_await sleep_for(3s);
    }
    CHECK(in.server.connections() == 1);
    CHECK(in.files->idle_connections() == 1);
    co_await sleep_for(2s);
    CHECK(in.files->idle_connections() == 0);
    CHECK(in.server.connections_open() == 0);
    auto reading = read_all(*in.files, kUrl, 10);
    const std::string got = co_await reading;
    CHECK(got == "hello");
    CHECK(in.server.connections() == 2);
  };
  CHECK(w.run(client(w)).ok());
  CHECK(w.server.log().size() == 4);
}

TEST_CASE("headers with line breaks are refused, and their values are hidden") {
  runtime rt;
  http_options options;
  auto none = []() -> std::shared_ptr<network> { return {}; };
  for (auto& [name, value] :
       {std::pair<std::string, std::string>{"A", "secret\r\nB: c"}, {"A: b", "secret"}, {"", "secret"}}) {
    options.headers = {{name, value}};
    CHECK_THROWS_WITH(add_http(rt, none, options), Catch::Contains("invalid_argument") && !Catch::Contains("secret"));
  }
  options.headers = {{"Authorization", "Bearer t"}};
  add_http(rt, none, options);
  CHECK_THROWS_WITH(add_http(rt, none, options), Catch::Contains("a file system for http:// was added before"));
}

TEST_CASE("reads one after the other use one connection") {
  http_world w;
  w.server.put("/a", some_bytes(5 * kMiB), "\"v1\"");
  for (int i = 0; i != 3; ++i) CHECK(w.run(read_all(*w.files, kUrl, kMiB)).size() == 5 * kMiB);
  CHECK(w.server.log().size() == 15);
  CHECK(w.server.connections() <= 3);  // the server ends its connections when it is stopped
}

TEST_CASE("lost, ended, stalled and short answers are asked for again, from where they broke off") {
  for (std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{500'000}, kMiB - 1})
    for (std::size_t which : {0u, 1u}) {
      INFO(at << " of answer " << which);
      std::vector<deed> before(which);
      auto with = [&](deed d) {
        std::vector<deed> all = before;
        all.push_back(std::move(d));
        return read_with(all);
      };
      check_whole(with({.reset_at = at}));
      outcome_of ended = with({.end_at = at});
      check_whole(ended);
      CHECK(ended.requests <= 4);
      check_whole(with({.stall_at = at}));
      check_whole(with({.more = -static_cast<std::int64_t>(kMiB - at), .end_after = true}));
      check_whole(with({.chunked = true, .end_at = at}));
      check_whole(with({.before = 60s}));
      check_whole(with({.reset_before_head = true}));
    }
}

TEST_CASE("requests are repeated after errors of the server, and after Retry-After") {
  for (int code : {408, 429, 500, 502, 503, 504}) {
    INFO(code);
    outcome_of o = read_with({{.code = code}, {}, {.code = code, .fields = "Retry-After: 7\r\n"}});
    check_whole(o);
    CHECK(o.requests == 4);
    CHECK(o.took > 7s);
    CHECK(o.took < 15s);
  }
  outcome_of dated = read_with({{.code = 503, .fields = "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n"}});
  check_whole(dated);
  check_whole(read_with({{.code = 400, .body = "<Error><Code>RequestTimeout</Code></Error>"}}));
}

TEST_CASE("bodies by the byte, in chunks, and heads in pieces are the same bytes") {
  check_whole(read_with({{.piece = 1}}, 3000), 3000);
  check_whole(read_with({{.chunked = true}, {.chunked = true}}));
  check_whole(read_with({{.chunked = true, .piece = 1}}, 3000), 3000);
  check_whole(read_with({{.piece = 100}, {.piece = 1000}}));
  check_whole(read_with({{.fields = "ETag: \"v1\"\r\n"}}));  // twice the same
  check_whole(read_with({{.end_after = true}, {.end_after = true}}));
}

TEST_CASE("a slow server is not a stalled one, because bytes arrive") {
  http_options options;
  options.stall_timeout = 2s;
  options.stall_bytes = 1000;
  outcome_of slow = read_with({{.piece = 1000, .between = 1s}}, 30'000, options);
  check_whole(slow, 30'000);
  CHECK(slow.requests == 1);
  CHECK(slow.took > 20s);
  // Bytes that trickle are: the requests after it get all.
  outcome_of trickles = read_with({{.piece = 10, .between = 1s}}, 30'000, options);
  check_whole(trickles, 30'000);
  CHECK(trickles.requests == 2);
}

TEST_CASE("a body of unknown length counts as stalled if its bytes only trickle") {
  http_options options;
  options.stall_timeout = 2s;
  options.stall_bytes = 1000;
  http_world w(1, options);
  w.server.put("/a", some_bytes(30'000), "\"v1\"");
  w.server.always({.whole = true, .chunked = true, .piece = 3000, .between = 1s});
  CHECK((w.run(read_all(*w.files, kUrl, 10'000)) == some_bytes(30'000)));
  w.server.always({.whole = true, .chunked = true, .piece = 150, .between = 900ms});
  const auto began = w.world.elapsed();
  std::optional<std::string> got;
  const status why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, 10'000), got));
  CHECK_THAT(why.to_string(), Catch::Contains("response of unknown length broke off"));
  CHECK(w.world.elapsed() - began < 10s);
}

TEST_CASE("an object that has changed is an error, never a mixture") {
  auto changed = [](const outcome_of& o) {
    INFO(o.why.to_string());
    CHECK(o.why.code() == status_code::failed_precondition);
    CHECK_THAT(o.why.to_string(), Catch::Contains("http://objects/a at byte 1048576") &&
                                      Catch::Contains("bytes 1048576-3145727, attempt 1: ") &&
                                      Catch::EndsWith("(request id r1)") &&
                                      Catch::Contains("has changed since it was opened"));
    CHECK(o.requests == 2);
  };
  changed(read_with({{}, {.code = 412}}));
  changed(read_with({{}, {.etag = "\"v2\""}}));
  changed(read_with({{}, {.code = 416}}));
  changed(read_with({{}, {.range = "bytes 1048576-3145727/3145729"}}));

  // Of a server that knows no If-Match, too; and where the change comes between two attempts.
  http_world w;
  w.server.put("/a", some_bytes(3 * kMiB), "\"v1\"");
  w.server.script({{}, {.reset_at = kMiB}});
  w.server.on_request([&](const asked_for&) {
    if (w.server.log().size() == 3) w.server.put("/a", std::string(3 * kMiB, 'x'), "\"v2\"");
  });
  std::optional<std::string> got;
  status why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, 2 * kMiB), got));
  CHECK(why.code() == status_code::failed_precondition);
  CHECK_THAT(why.to_string(), Catch::Contains("attempt 2: ") && Catch::Contains("(request id r2)"));
}

TEST_CASE("an object without an ETag is known by when it was modified, and by its size") {
  const std::string then = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
                    later = "Last-Modified: Mon, 07 Nov 1994 08:49:37 GMT\r\n";
  check_whole(read_with({{.fields = then, .etag = "none"}, {.fields = then, .etag = "none"}}));
  outcome_of o = read_with({{.fields = then, .etag = "none"}, {.fields = later, .etag = "none"}});
  CHECK(o.why.code() == status_code::failed_precondition);
  check_whole(read_with({{.etag = "none"}, {.etag = "none"}}));
  check_whole(read_with({{.etag = "W/\"weak\""}, {.etag = "W/\"weak\""}}));
  CHECK(read_with({{.etag = "W/\"weak\""}, {.etag = "W/\"other\""}}).why.code() == status_code::failed_precondition);
  // Of Apache, where an object is younger than a second, and older when it is asked for again.
  check_whole(read_with({{.etag = "W/\"young\""}, {.etag = "\"young\""}}));
  check_whole(read_with({{}, {.etag = "W/\"v1\""}}));
  CHECK(read_with({{.etag = "W/\"young\""}, {.etag = "\"other\""}}).why.code() == status_code::failed_precondition);
}

TEST_CASE("an answer that breaks the rules is data_loss, and not asked for again") {
  auto refused = [](const outcome_of& o, const char* words) {
    INFO(o.why.to_string());
    CHECK(o.why.code() == status_code::data_loss);
    CHECK_THAT(o.why.to_string(),
               Catch::Contains("http://objects/a") && Catch::Contains("attempt 1") && Catch::Contains(words));
    CHECK(o.requests <= 2);
  };
  // On connections of their own: what comes first on one that was used before may be the rest of an answer before.
  const deed last{.end_after = true};
  refused(read_with({{}, {.range = "none"}}), "does not name its range");
  refused(read_with({{}, {.range = "bytes 0-2097151/3145728"}}), "another range: bytes 0-2097151/3145728");
  refused(read_with({{}, {.range = "bytes 1048576-3145726/3145728"}}), "another range");
  refused(read_with({last, {.range = "bytes x-y/z"}}), "no range of bytes");
  refused(read_with({last, {.fields = "Content-Range: bytes 0-0/1\r\n"}}), "differ");
  refused(read_with({last, {.fields = "ETag: \"v2\"\r\n"}}), "differ");
  refused(read_with({last, {.fields = "Content-Length: 5\r\n"}}), "no HTTP/1.1");
  refused(read_with({{}, {.fields = "Content-Encoding: gzip\r\n"}}), "encoded as gzip");
  refused(read_with({{}, {.chunked = true, .more = 1}}), "longer than the range");
  refused(read_with({{.raw = "SSH-2.0-OpenSSH\r\n"}}), "no HTTP/1.1");
  refused(read_with({{.fields = "X: " + std::string(70'000, 'x') + "\r\n"}}), "more than 65536 bytes");
}

TEST_CASE("a body longer than declared is truncated, and its connection is not used again") {
  check_whole(read_with({{.more = 100}, {.more = 100}}));
  http_world w;
  w.server.put("/a", some_bytes(1000), "\"v1\"");
  w.server.always({.more = 100});
  for (int i = 0; i != 5; ++i) CHECK((w.run(read_all(*w.files, kUrl, 4096)) == some_bytes(1000)));
}

TEST_CASE("leftover bytes on a used connection are no answer to the next request") {
  outcome_of o =
      read_with({{}, {.end_after = true, .raw = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"}});
  check_whole(o);
  CHECK(o.requests == 3);
  o = read_with({{}, {.reset_before_head = true}});
  check_whole(o);
  CHECK(o.requests == 3);
  CHECK(o.retries == 0);  // and nobody waits before the next attempt
}

TEST_CASE("chunks after the requested range are delivered to no one") {
  for (std::size_t piece : {std::size_t{100'000}, kMiB, 4 * kMiB}) {
    http_world w;
    w.server.put("/a", some_bytes(3 * kMiB), "\"v1\"");
    w.server.script({{.chunked = true, .more = 5000}});
    CHECK((w.run(read_all(*w.files, kUrl, piece)) == some_bytes(3 * kMiB)));
  }
}

TEST_CASE("200 for a range is an error, unless it is the whole object from its beginning") {
  check_whole(read_with({{.whole = true}}));
  check_whole(read_with({{.whole = true, .chunked = true}}));
  outcome_of o = read_with({{}, {.whole = true}});
  CHECK(o.why.code() == status_code::unimplemented);
  CHECK_THAT(o.why.to_string(), Catch::Contains("answers a range with the whole object"));
  // The whole object broke off, and is not to be had from the middle.
  outcome_of lost = read_with({{.whole = true, .reset_at = 2 * kMiB}, {.whole = true}});
  CHECK(lost.why.code() == status_code::unimplemented);
  CHECK_THAT(lost.why.to_string(), Catch::Contains("asked for the rest: the server answers a range with the whole"));
  check_whole(read_with({{.whole = true, .reset_at = 2 * kMiB}}));
}

TEST_CASE("an error that no repetition can cure is reported at once, with the server's own text") {
  struct expected {
    int code;
    status_code means;
  };
  for (auto [code, means] : {expected{404, status_code::not_found}, expected{410, status_code::not_found},
                             expected{403, status_code::permission_denied}, expected{401, status_code::unauthenticated},
                             expected{400, status_code::invalid_argument}, expected{501, status_code::unimplemented}}) {
    outcome_of o = read_with({{.code = code, .body = "<Code>NoSuchThing</Code>\n"}});
    INFO(o.why.to_string());
    CHECK(o.why.code() == means);
    CHECK(o.requests == 1);
    CHECK_THAT(o.why.to_string(),
               Catch::Contains("http://objects/a at byte 0: bytes 0-1048575, attempt 1: the server says ") &&
                   Catch::EndsWith(std::to_string(code) + " Some Words: <Code>NoSuchThing</Code> (request id r0)"));
  }
}

TEST_CASE("attempts are limited, and the last error is reported") {
  http_world w;
  w.server.put("/a", some_bytes(1000), "\"v1\"");
  w.server.always({.code = 503});
  std::optional<std::string> got;
  status why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, 4096), got));
  CHECK(why.code() == status_code::unavailable);
  CHECK_THAT(why.to_string(), Catch::Contains("attempt 8: the server says 503 Some Words; that was the last attempt") &&
                                  Catch::EndsWith("(request id r7)"));
  CHECK(w.server.log().size() == 8);
  for (std::size_t i = 1; i != 8; ++i)
    CHECK(w.server.log()[i].when - w.server.log()[i - 1].when >= (i == 1 ? 50ms : 100ms));
  // All files together: a server that is down is not asked eight times for each of a thousand.
  for (int i = 0; i != 100; ++i) (void)w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, 4096), got));
  CHECK(w.server.log().size() < 101 + 500 / 5 + 1);
  why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, 4096), got));
  CHECK_THAT(why.to_string(), Catch::Contains("attempt 1") && Catch::Contains("too many requests have failed"));
  // And once it is up again, all is as before.
  w.server.always({});
  for (int i = 0; i != 30; ++i) CHECK(w.run(read_all(*w.files, kUrl, 4096)).size() == 1000);
  w.server.script({{.code = 503}});
  CHECK(w.run(read_all(*w.files, kUrl, 4096)).size() == 1000);
}

TEST_CASE("attempts that deliver bytes are not counted, but their costs are") {
  http_world w;
  w.server.put("/a", some_bytes(3 * kMiB), "\"v1\"");
  w.server.always({.end_at = 100'000});
  CHECK((w.run(read_all(*w.files, kUrl, 4 * kMiB)) == some_bytes(3 * kMiB)));
  CHECK(w.server.log().size() >= 3 * kMiB / 100'000);
  w.server.always({.end_at = 17'000});
  std::optional<std::string> got;
  status why;
  for (int i = 0; i != 4 && why.ok(); ++i)
    why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, 4 * kMiB), got));
  CHECK(why.code() == status_code::unavailable);
  CHECK_THAT(why.to_string(), Catch::Contains("too many requests have failed"));
  CHECK(w.server.log().size() <= 100 + 40);
}

TEST_CASE("a server that asks for more patience than there is, is not waited for") {
  outcome_of o = read_with({{.code = 429, .fields = "Retry-After: 3600\r\n"}});
  CHECK(o.why.code() == status_code::unavailable);
  CHECK_THAT(o.why.to_string(), Catch::Contains("asks to wait for 3600 s"));
  CHECK(o.requests == 1);
}

TEST_CASE("a deadline ends a read in every state of the server") {
  for (deed d : {deed{.before = 3600s}, deed{.stall_at = 10}, deed{.piece = 1, .between = 1s}}) {
    http_world w;
    w.server.put("/a", some_bytes(100'000), "\"v1\"");
    w.server.always(d);
    std::optional<std::string> got;
    const time_point until = w.world.now() + 5s;
    status why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, 4096, until), got));
    INFO(why.to_string());
    CHECK(why.code() == status_code::deadline_exceeded);
    CHECK_THAT(why.to_string(), Catch::Contains(kUrl));
    CHECK(w.world.elapsed() <= 6s);
  }
}

TEST_CASE("an unreachable host, an unknown name, and an invalid URL") {
  http_world w;
  w.server.put("/a", "x", "\"v1\"");
  w.net->name("nowhere:80", {});
  std::optional<std::string> got;
  status why = w.run(http_world::keep<std::string>(read_all(*w.files, "http://nowhere/a", 10), got));
  CHECK(why.code() == status_code::unavailable);
  CHECK_THAT(why.to_string(), Catch::Contains("no such host") && Catch::Contains("check the host"));
  CHECK(w.world.elapsed() < 5s);
  why = w.run(http_world::keep<std::string>(read_all(*w.files, "http://objects:81/a", 10), got));
  CHECK_THAT(why.to_string(), Catch::Contains("connection refused"));
  why = w.run(http_world::keep<std::string>(read_all(*w.files, "http:///a", 10), got));
  CHECK(why.to_string() == "invalid_argument: http:///a: is no URL for this: it names no host");
}

TEST_CASE("a name may have several addresses: all are used, and those that do not answer are skipped") {
  http_world w;
  w.net->name("objects:80", {"one:80", "dead:80", "two:80"});
  scripted_server one(*w.net, "one:80"), two(*w.net, "two:80");
  for (scripted_server* s : {&one, &two}) {
    s->put("/a", some_bytes(1000), "\"v1\"");
    s->always({.end_after = true});
  }
  auto client = [](detail::http_file_system& files) -> task<> {
    for (int i = 0; i != 12; ++i) {
      auto reading = read_all(files, kUrl, 4096);
      const std::string got = co_await reading;
      CHECK(got.size() == 1000);
    }
  };
  sync_wait(w.rt, while_serving({&one, &two}, client(*w.files)));
  CHECK(one.log().size() >= 3);
  CHECK(two.log().size() >= 3);
  CHECK(w.files->counts().retries == 0);
  CHECK_THAT(w.files->description(), Catch::Contains("over 13 connections"));  // the dead one was tried once
}

TEST_CASE("an object without a size is read once, in order") {
  http_world w;
  w.server.put("/a", some_bytes(300'000), "\"v1\"");
  w.server.always({.whole = true, .chunked = true});
  CHECK((w.run(read_all(*w.files, kUrl, 10'000)) == some_bytes(300'000)));
  CHECK((w.run(read_file(w.rt, kUrl)) == some_bytes(300'000)));
  CHECK(w.server.log().size() == 2);
  w.server.always({.whole = true, .chunked = true, .reset_at = 200'000});
  std::optional<std::string> got;
  status why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, 10'000), got));
  CHECK(why.code() == status_code::unavailable);
  CHECK_THAT(why.to_string(), Catch::Contains("response of unknown length broke off"));
  w.server.always({.end_after = true, .raw = "HTTP/1.1 200 OK\r\n\r\nhello"});
  why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, 10'000), got));
  CHECK(why.code() == status_code::unimplemented);
}

TEST_CASE("a plain URL is a listing of itself, which the first read checks") {
  http_world w;
  w.server.put("/a", some_bytes(2000), "\"v1\"");
  CHECK(w.run(glob(files_of(w.rt), kUrl)) == std::vector<std::string>{kUrl});
  auto info = w.run(files_of(w.rt).stat(kUrl));
  CHECK(info.size_bytes == 2000);
  CHECK(info.version == "\"v1\"");
  const std::size_t asked = w.server.log().size();
  open_options how;
  how.known = info;
  auto f = w.run(w.files->open(kUrl, how));
  CHECK(w.server.log().size() == asked);
  buffer_ref room(buffer::make(4096));
  CHECK(w.run(f->read_at(0, room, 0, 4096)) == 2000);
  CHECK(w.server.log().back().if_match == "\"v1\"");
  w.server.put("/a", some_bytes(1999), "\"v2\"");
  auto stale = w.run(w.files->open(kUrl, how));
  std::optional<std::size_t> n;
  CHECK(w.run(http_world::keep<std::size_t>(stale->read_at(0, room, 0, 4096), n)).code() ==
        status_code::failed_precondition);
  std::optional<std::vector<std::string>> none;
  status why = w.run(http_world::keep<std::vector<std::string>>(glob(files_of(w.rt), "http://objects/*"), none));
  CHECK(why.code() == status_code::unimplemented);
  why = w.run(http_world::keep<std::vector<std::string>>(glob(files_of(w.rt), "http://objects/none"), none));
  CHECK(why.code() == status_code::not_found);
  std::optional<std::unique_ptr<file_writer>> writer;
  why = w.run(http_world::keep<std::unique_ptr<file_writer>>(w.files->create(kUrl, kNever), writer));
  CHECK(why.code() == status_code::unimplemented);
}

}  // namespace sluice::lib::http_file_test
