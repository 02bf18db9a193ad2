// SPDX-License-Identifier: Apache-2.0
// Heads and chunks, cut into pieces of every size.
#include <catch2/catch.hpp>

#include "io/http/messages/dates.hpp"
#include "io/http/messages/response_parser.hpp"

namespace sluice::lib::parser_test {
using detail::parse_content_range;
using detail::response_parser;

namespace {

struct outcome {
  status why;
  detail::response_head head;
  std::string body;
  std::string behind;  ///< bytes that nobody took
  bool done = false, ended = false;
};

outcome take_apart(std::string_view text, std::size_t piece, std::size_t room_bytes = 64) {
  response_parser parser;
  outcome o;
  std::string_view rest = text;
  while (!parser.head_done() && !rest.empty()) {
    auto used = parser.take_head(std::string(rest.substr(0, piece)));
    if (!used.ok()) return o.why = used.why(), o;
    rest.remove_prefix(*used);
  }
  o.done = parser.head_done();
  o.head = parser.head();
  std::string room(room_bytes, '\0');
  while (o.done && o.head.chunked && !o.ended && !rest.empty()) {
    const std::string given(rest.substr(0, piece));
    auto step = parser.take_chunks(given, room);
    o.body.append(room, 0, step.given);
    if (!step.why.ok()) return o.why = step.why, o;
    REQUIRE(step.used + step.given != 0);
    rest.remove_prefix(step.used);
    o.ended = step.ended;
  }
  o.behind = std::string(rest);
  return o;
}

const std::string kRanged =
    "HTTP/1.1 206 Partial Content\r\nServer: s\r\nContent-Length: 10\r\ncontent-range: bytes 90-99/1000\r\n"
    "ETag: \"v1\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nX-Request-Id: r-7\r\n\r\n";
const std::string kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string refusal(const std::string& text) {
  std::string first = take_apart(text, text.size()).why.to_string();
  for (std::size_t piece = 1; piece != text.size(); ++piece) {
    INFO(piece);
    CHECK_FALSE(take_apart(text, piece).why.ok());
  }
  return first;
}

}  // namespace

TEST_CASE("a head is parsed from any pieces") {
  for (std::size_t piece = 1; piece <= kRanged.size() + 10; ++piece) {
    INFO(piece);
    outcome o = take_apart(kRanged + "0123456789", piece);
    REQUIRE(o.why.ok());
    REQUIRE(o.done);
    CHECK(o.behind == "0123456789");
    CHECK(o.head.code == 206);
    CHECK(o.head.status_text() == "206 Partial Content");
    CHECK(o.head.keep_alive);
    CHECK(o.head.length == 10);
    CHECK(o.head.range->to_string() == "bytes 90-99/1000");
    CHECK(o.head.etag == "\"v1\"");
    CHECK(o.head.version() == "\"v1\"");
    CHECK(o.head.request_id == "r-7");
    CHECK(detail::parse_http_date(o.head.last_modified) == 784111777 * std::int64_t{1'000'000'000});
  }
}

TEST_CASE("chunks are joined from any pieces, for any free memory") {
  const std::string text =
      kChunked + "5\r\nhello\r\n1;name=value\r\n \r\n5\r\nworld\r\n0\r\nETag: \"late\"\r\n\r\nNEXT";
  for (std::size_t piece = 1; piece <= text.size(); ++piece)
    for (std::size_t room : {1u, 3u, 64u}) {
      INFO(piece << " " << room);
      outcome o = take_apart(text, piece, room);
      REQUIRE(o.why.ok());
      CHECK(o.ended);
      CHECK(o.body == "hello world");
      CHECK(o.behind == "NEXT");
      CHECK(o.head.etag.empty());
    }
}

TEST_CASE("extensions and trailers of chunks are limited, and many small chunks are not") {
  std::string small = kChunked, body;
  for (int i = 0; i != 20'000; ++i) {
    small += "1;n=v\r\nx\r\n";
    body += 'x';
  }
  CHECK(take_apart(small + "0\r\n\r\n", 4096, 8192).body == body);
  const std::string much(response_parser::kHeadBytesMax, 'e');
  for (const std::string& endless : {kChunked + "5;" + much + much, kChunked + "5\r\nhello\r\n0\r\nX: " + much + much,
                                     kChunked + "1;" + much + "\r\nx\r\n1;" + much + "\r\nx\r\n"}) {
    outcome o = take_apart(endless, 4096, 8192);
    CHECK(o.why.code() == status_code::data_loss);
    CHECK_THAT(o.why.to_string(), Catch::Contains("the extensions and trailers of the response's chunks have"));
  }
}

TEST_CASE("interim heads are skipped") {
  const std::string text =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nETag: \"early\"\r\n\r\n" + kRanged + "x";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    outcome o = take_apart(text, piece);
    REQUIRE(o.why.ok());
    CHECK(o.head.code == 206);
    CHECK(o.head.etag == "\"v1\"");
    CHECK(o.behind == "x");
  }
}

TEST_CASE("the head decides whether a connection stays open") {
  CHECK(take_apart("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 99).head.keep_alive);
  CHECK_FALSE(take_apart("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 99).head.keep_alive);
  CHECK_FALSE(take_apart("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 99).head.keep_alive);
  CHECK_FALSE(take_apart("HTTP/1.1 200 OK\r\n\r\n", 99).head.keep_alive);
  CHECK(take_apart("HTTP/1.1 204 No Content\r\n\r\n", 99).head.length == 0);
}

TEST_CASE("ambiguous heads are refused") {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  CHECK_THAT(refusal("HTTP/2 200 OK\r\n\r\n"), Catch::Contains("data_loss: the response is no HTTP/1.1"));
  CHECK_THAT(refusal("<html>hello</html>"), Catch::Contains("no HTTP/1.1"));
  CHECK_THAT(refusal(ok + "Content-Length: 10\r\nContent-Length: 11\r\n\r\n"), Catch::Contains("data_loss"));
  CHECK_THAT(refusal(ok + "Content-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\n"), Catch::Contains("data_loss"));
  CHECK_THAT(refusal(ok + "Transfer-Encoding: gzip, chunked\r\n\r\n"), Catch::Contains("was not requested"));
  CHECK_THAT(refusal(ok + "Content-Length: -1\r\n\r\n"), Catch::Contains("data_loss"));
  CHECK_THAT(refusal(ok + "Content-Length: 99999999999999999999\r\n\r\n"), Catch::Contains("data_loss"));
  CHECK_THAT(refusal(ok + "ETag: \"a\"\r\nETag: \"b\"\r\n\r\n"), Catch::Contains("two fields etag, which differ"));
  CHECK_THAT(refusal(ok + "Content-Range: bytes 0-1/2\r\nContent-Range: bytes 0-0/2\r\n\r\n"),
             Catch::Contains("differ"));
  CHECK_THAT(refusal(ok + "Content-Range: 0-1/2\r\n\r\n"), Catch::Contains("no range of bytes"));
  CHECK_THAT(refusal(ok + "na me: x\r\n\r\n"), Catch::Contains("no HTTP/1.1"));
  CHECK_THAT(refusal("HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"),
             Catch::Contains("another protocol"));
  CHECK_THAT(refusal(kChunked + "g\r\n"), Catch::Contains("data_loss"));
  CHECK_THAT(refusal(kChunked + "fffffffffffffffff\r\n"), Catch::Contains("data_loss"));
  CHECK(take_apart(ok + "ETag: \"a\"\r\nETag: \"a\"\r\n\r\n", 99).why.ok());
}

TEST_CASE("a head has at most 64 KiB") {
  const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";
  const std::string fits = ok + std::string(response_parser::kHeadBytesMax - ok.size() - 4, 'x') + "\r\n\r\n";
  REQUIRE(fits.size() == response_parser::kHeadBytesMax);
  for (std::size_t piece : {std::size_t{1000}, std::size_t{4096}, fits.size()}) {
    CHECK(take_apart(fits, piece).done);
    const std::string longer = ok + std::string(response_parser::kHeadBytesMax, 'x') + "\r\n\r\n";
    CHECK_THAT(take_apart(longer, piece).why.to_string(), Catch::Contains("more than 65536 bytes"));
  }
}

TEST_CASE("content ranges are parsed") {
  CHECK(parse_content_range("bytes 0-0/1")->to_string() == "bytes 0-0/1");
  CHECK(parse_content_range("bytes 5-9/*")->total == detail::content_range::kUnknownTotal);
  CHECK_FALSE(parse_content_range("bytes */10")->satisfied);
  for (const char* wrong :
       {"", "bytes", "bytes 0-1", "bytes 1-0/2", "bytes 0-2/2", "bytes -1/2", "bytes 0-/2", "bytes a-b/c",
        "items 0-1/2", "bytes 0-99999999999999999999/*", "bytes 0-1/2x", "bytes +0-1/2"})
    CHECK_FALSE(parse_content_range(wrong).ok());
}

}  // namespace sluice::lib::parser_test
