// SPDX-License-Identifier: Apache-2.0
// Heads and chunked bodies of HTTP: whatever pieces the bytes come in, the same response, or an error in all of them.
#include "fuzz/target.hpp"

#if SLUICE_HAVE_HTTP
#include "io/http/messages/http_url.hpp"
#include "io/http/messages/response_check.hpp"
#include "io/http/messages/response_parser.hpp"
#endif

namespace sluice::lib::fuzz {

#if SLUICE_HAVE_HTTP

namespace {

using detail::response_parser;

struct reading {
  status why;
  detail::response_head head;
  std::string body;
  std::size_t used = 0;
  bool head_done = false, ended = false;
};

reading take_apart(std::string_view text, std::size_t piece, std::size_t room_bytes) {
  response_parser parser;
  reading r;
  while (!parser.head_done() && r.used != text.size()) {
    const std::string given(text.substr(r.used, piece));  // its own allocation, so that ASan sees a read beyond it
    auto used = parser.take_head(given);
    if (!used.ok()) {
      expect(used.why().code() == status_code::data_loss, "a broken head is told as " + used.why().to_string());
      return r.why = used.why(), r;
    }
    expect(*used <= given.size(), "more was taken than there was");
    expect(*used == given.size() || parser.head_done(), "a head stands still");
    r.used += *used;
  }
  r.head_done = parser.head_done();
  expect(r.used <= response_parser::kHeadBytesMax + 1, "a head has more bytes than it may");
  if (!r.head_done) return r;
  r.head = parser.head();
  while (r.head.chunked && !r.ended && r.used != text.size()) {
    const std::string given(text.substr(r.used, piece));
    std::string room(room_bytes, '\0');
    auto step = parser.take_chunks(given, room);
    expect(step.used <= given.size() && step.given <= room.size(), "a step took or gave more than there was");
    r.body.append(room, 0, step.given);
    if (!step.why.ok()) {
      expect(step.why.code() == status_code::data_loss, "a broken body is told as " + step.why.to_string());
      return r.why = step.why, r;
    }
    expect(step.used != 0 || step.ended, "a body stands still");
    r.used += step.used;
    r.ended = step.ended;
  }
  return r;
}

/// Whatever a response says, it either answers the request, or there is an error for it.
void check_answers(const detail::response_head& head, std::uint64_t first, std::uint64_t bytes) {
  const detail::byte_range range{first, first + bytes};
  detail::object_pin fresh;
  if (!detail::check_first(head, {0, bytes}, fresh) && head.code == 206)
    expect(head.range && head.range->first == 0 && head.range->last <= bytes, "another range passes as the first");
  detail::object_pin pin{.size_bytes = first + bytes + 10, .version = "\"v1\""};
  if (!detail::check_range(head, range, pin)) {
    expect(head.range && head.range->first == first && head.range->last == range.last, "another range passes");
    expect(head.etag.empty() || head.etag == pin.version, "another version passes");
    expect(!head.length || *head.length == range.bytes(), "another length passes");
  }
  expect(!detail::failure_of(head, head.location).why.ok(), "a failure is none");
  auto base = detail::parse_http_url("https://objects.example/a/b?c");
  auto to = detail::follow_redirect(*base, head.location);
  if (!to.ok()) return;
  expect(to->tls, "a redirect leads out of TLS");
  for (char c : to->target) expect(c > ' ' && c < '\x7f', "a target has what no request line may have");
}

std::string response_of(input& in, bool with_head) {
  if (with_head) return std::string(in.rest());
  std::string text = "HTTP/1.1 206 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  return text.append(in.rest());
}

}  // namespace

void http(std::string_view bytes) {
  input in(bytes);
  const std::uint8_t modes = in.byte();
  const std::size_t piece = 1 + in.byte(), room = 1 + in.byte();
  const std::uint64_t first = in.number(2), many = 1 + in.number(2);
  const std::string text = response_of(in, modes & 1);
  reading whole = take_apart(text, text.size() + 1, 1 << 16), cut = take_apart(text, piece, room);
  expect(whole.why.ok() == cut.why.ok(), "pieces decide whether a response is sound");
  if (!whole.why.ok()) return;
  expect(whole.head_done == cut.head_done && whole.ended == cut.ended, "pieces decide where a response ends");
  expect(whole.used == cut.used && whole.body == cut.body, "pieces decide what a response has");
  if (!whole.head_done) return;
  expect(whole.head.code == cut.head.code && whole.head.range == cut.head.range &&
             whole.head.length == cut.head.length && whole.head.etag == cut.head.etag &&
             whole.head.keep_alive == cut.head.keep_alive,
         "pieces decide what a head says");
  check_answers(whole.head, first, many);
}

#else

void http(std::string_view) {}

#endif

}  // namespace sluice::lib::fuzz
