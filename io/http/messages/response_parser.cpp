// SPDX-License-Identifier: Apache-2.0
#include "io/http/messages/response_parser.hpp"

#include <llhttp.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "io/http/kept_exception.hpp"
#include "io/http/messages/http_text.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib::detail {

/// The limit of framing for each byte of a body. A chunk of one byte has five bytes of framing or more; extensions and
/// trailers beyond this limit may be as long as a head.
constexpr std::uint64_t kFramingOfByteMax = 32;

struct response_parser::state {
  llhttp_t parser;
  llhttp_settings_t calls;
  response_head head;
  std::string name, value;
  std::size_t head_bytes = 0;
  bool head_done = false;
  bool ended = false;
  status why;            ///< the error of a field
  std::span<char> room;  ///< receives the bytes of chunks
  std::size_t given = 0;
  std::uint64_t body_bytes = 0, framing_bytes = 0;  ///< the bytes of chunks so far, and the bytes between them
  kept_exception thrown;

  static state& of(llhttp_t* p) { return *static_cast<state*>(p->data); }
  /// Appends to a text. Fails if memory is exhausted.
  static int append(llhttp_t* p, std::string& to, const char* at, std::size_t n) noexcept {
    return of(p).thrown.run([&] { to.append(at, n); }) ? HPE_OK : HPE_USER;
  }
  static int on_begin(llhttp_t* p) noexcept {
    of(p).head = {};
    return HPE_OK;
  }
  static int on_reason(llhttp_t* p, const char* at, std::size_t n) noexcept {
    return append(p, of(p).head.reason, at, n);
  }
  static int on_name(llhttp_t* p, const char* at, std::size_t n) noexcept { return append(p, of(p).name, at, n); }
  static int on_value(llhttp_t* p, const char* at, std::size_t n) noexcept { return append(p, of(p).value, at, n); }
  static int on_field(llhttp_t* p) noexcept {
    state& s = of(p);
    // Fields after the last chunk do not describe the body that was read.
    const bool done = s.head_done || s.thrown.run([&s] { s.why = s.head.take(s.name, s.value); });
    s.name.clear();
    s.value.clear();
    return done && s.why.ok() ? HPE_OK : HPE_USER;
  }
  static int on_head(llhttp_t* p) noexcept {
    state& s = of(p);
    // an interim response: another head follows
    if (p->status_code / 100 == 1 && p->status_code != 101) return HPE_OK;
    if (!s.thrown.run([&s, p] { s.why = s.settle(*p); }) || !s.why.ok()) return HPE_USER;
    s.head_done = true;
    return HPE_PAUSED;
  }
  static int on_body(llhttp_t* p, const char* at, std::size_t n) noexcept {
    state& s = of(p);
    if (n > s.room.size() - s.given) return HPE_USER;
    std::memcpy(s.room.data() + s.given, at, n);
    s.given += n;
    return HPE_OK;
  }
  static int on_end(llhttp_t* p) noexcept {
    state& s = of(p);
    if (!s.head_done) return HPE_OK;  // the end of an interim response
    s.ended = true;
    return HPE_PAUSED;
  }

  status settle(const llhttp_t& p) {
    head.code = p.status_code;
    head.keep_alive = llhttp_should_keep_alive(&p) == 1;
    head.chunked = (p.flags & F_CHUNKED) != 0;
    if (!head.transfer_encoding.empty() && !same_name(head.transfer_encoding, "chunked"))
      return data_loss_error(joined("Transfer-Encoding is \"", head.transfer_encoding, "\", which was not requested"));
    if (head.chunked && head.length) return data_loss_error("the response has both a length and chunks");
    if (p.status_code == 101) return data_loss_error("the server switches to another protocol");
    if (p.status_code == 204 || p.status_code == 304) head.length = 0;
    return {};
  }
  status broken(llhttp_errno_t e) {
    if (!why.ok()) return why;
    const char* reason = llhttp_get_error_reason(&parser);
    return data_loss_error(
        joined("the response is no HTTP/1.1: ", llhttp_errno_name(e), reason ? ": " : "", reason ? reason : ""));
  }
  /// Returns the number of bytes consumed before a callback paused the parser.
  std::size_t taken_of(std::string_view bytes) const {
    const char* at = llhttp_get_error_pos(&parser);
    return at ? static_cast<std::size_t>(at - bytes.data()) : bytes.size();
  }
};

response_parser::response_parser() : state_(std::make_unique<state>()) {
  llhttp_settings_init(&state_->calls);
  state_->calls.on_message_begin = &state::on_begin;
  state_->calls.on_status = &state::on_reason;
  state_->calls.on_header_field = &state::on_name;
  state_->calls.on_header_value = &state::on_value;
  state_->calls.on_header_value_complete = &state::on_field;
  state_->calls.on_headers_complete = &state::on_head;
  state_->calls.on_body = &state::on_body;
  state_->calls.on_message_complete = &state::on_end;
  llhttp_init(&state_->parser, HTTP_RESPONSE, &state_->calls);
  state_->parser.data = state_.get();
}

response_parser::~response_parser() = default;

bool response_parser::head_done() const { return state_->head_done; }
const response_head& response_parser::head() const { return state_->head; }

result<std::size_t> response_parser::take_head(std::string_view bytes) {
  state& s = *state_;
  // The parser receives one byte more than the limit allows, so that it can detect a head that is too long.
  const std::string_view looked_at = bytes.substr(0, kHeadBytesMax + 1 - s.head_bytes);
  const llhttp_errno_t e = llhttp_execute(&s.parser, looked_at.data(), looked_at.size());
  s.thrown.rethrow();
  if (s.head_done && e == HPE_PAUSED) {
    const std::size_t used = s.taken_of(looked_at);
    llhttp_resume(&s.parser);
    return used;
  }
  if (e != HPE_OK) return s.broken(e);
  s.head_bytes += looked_at.size();
  if (s.head_bytes > kHeadBytesMax)
    return data_loss_error(joined("the head of the response has more than ", kHeadBytesMax, " bytes"));
  return looked_at.size();
}

response_parser::chunk_step response_parser::take_chunks(std::string_view bytes, std::span<char> room) {
  state& s = *state_;
  SLUICE_REQUIRES(head().chunked, "the body has no chunks");
  chunk_step step;
  // Decoded bytes are never more than the encoded ones.
  bytes = bytes.substr(0, room.size());
  s.room = room;
  s.given = 0;
  const llhttp_errno_t e = llhttp_execute(&s.parser, bytes.data(), bytes.size());
  s.thrown.rethrow();
  step.given = s.given;
  step.ended = s.ended;
  step.used = s.ended ? s.taken_of(bytes) : bytes.size();
  if (!s.ended && e != HPE_OK) step.why = s.broken(e);
  s.body_bytes += step.given;
  s.framing_bytes += step.used - step.given;
  if (step.why.ok() && s.framing_bytes > kHeadBytesMax + s.body_bytes * kFramingOfByteMax)
    step.why = data_loss_error(joined("the extensions and trailers of the response's chunks have ", s.framing_bytes,
                                      " bytes, for ", s.body_bytes, " bytes of the body"));
  return step;
}

}  // namespace sluice::lib::detail
