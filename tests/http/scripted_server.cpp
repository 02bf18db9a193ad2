// SPDX-License-Identifier: Apache-2.0
#include "http/scripted_server.hpp"

#include <algorithm>
#include <charconv>

#include "io/http/messages/http_text.hpp"
#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib::testing {
namespace {

using detail::joined;

constexpr duration kForEver = std::chrono::hours(24 * 365);

std::string field_in(const std::string& head, std::string_view name) {
  for (std::size_t at = 0; (at = head.find("\r\n", at)) != std::string::npos;) {
    at += 2;
    if (!detail::begins_with_name(std::string_view(head).substr(at), joined(name, ": "))) continue;
    const std::size_t begin = at + name.size() + 2;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
  return {};
}

/// "bytes=5-9" → 5 and 9.
bool parse_range(std::string_view text, std::uint64_t& first, std::uint64_t& last) {
  if (!text.starts_with("bytes=")) return false;
  text.remove_prefix(6);
  const std::size_t dash = text.find('-');
  return dash != text.npos && detail::parse_digits(text.substr(0, dash), first) &&
         detail::parse_digits(text.substr(dash + 1), last);
}

std::string in_chunks(std::string_view bytes) {
  std::string out;
  for (std::size_t n = 7; !bytes.empty(); n = n * 3 + 1) {
    const std::string_view piece = bytes.substr(0, n);
    char digits[17];
    *std::to_chars(digits, digits + 16, piece.size(), 16).ptr = '\0';
    out += joined(digits, "\r\n", piece, "\r\n");
    bytes.remove_prefix(piece.size());
  }
  return out + "0\r\n\r\n";
}

/// Counts a connection as long as it lives, also where its coroutine fails.
struct counted {
  explicit counted(std::size_t& n) : count(n) { ++count; }
  ~counted() { --count; }
  std::size_t& count;
};

task<> run_client(scope& all, task<> client, status& why) {
  task<> mine = std::move(client);
  why = co_await mine.as_result();
  all.request_stop();
}

}  // namespace

std::string field_of(const std::string& head, std::string_view name) { return field_in(head, name); }

task<> scripted_server::serve() {
  auto door = co_await net_.listen(address_);
  address_ = door->address();
  if (on_listening_) on_listening_(address_);
  environment* env = co_await this_environment();
  scope callers(*env);
  for (;;) {
    auto accepting = door->accept();
    auto caller = co_await accepting.as_result();
    if (!caller.ok()) break;
    callers.spawn(converse(*std::move(caller), connections_++));
  }
  callers.request_stop();
  co_await callers.join();
}

task<> scripted_server::converse(std::unique_ptr<connection> c, std::size_t number) {
  counted alive(open_);
  std::string received;
  std::vector<char> room(4096);
  for (bool continues = true; continues;) {
    const std::size_t end = received.find("\r\n\r\n");
    std::uint64_t length = 0;
    if (end != std::string::npos)
      (void)detail::parse_digits(field_in(received.substr(0, end + 4), "Content-Length"), length);
    if (end == std::string::npos || received.size() < end + 4 + length) {
      auto reading = c->read_some(room);
      auto n = co_await reading.as_result();
      if (!n.ok() || *n == 0) co_return;
      received.append(room.data(), *n);
      continue;
    }
    asked_for request;
    request.head = received.substr(0, end + 4);
    request.body = received.substr(end + 4, length);
    received.erase(0, end + 4 + length);
    request.method = request.head.substr(0, request.head.find(' '));
    const std::size_t at = request.method.size() + 1;
    request.target = request.head.substr(at, request.head.find(' ', at) - at);
    request.range = field_in(request.head, "Range");
    request.if_match = field_in(request.head, "If-Match");
    request.connection = number;
    environment* env = co_await this_environment();
    request.when = env->time->now();
    log_.push_back(request);
    if (on_request_) on_request_(request);
    auto answering = answer(*c, std::move(request));
    auto done = co_await answering.as_result();
    continues = done.ok() && *done;
  }
}

task<bool> scripted_server::answer(connection& c, asked_for request) {
  deed d = always_;
  if (!script_.empty()) {
    d = script_.front();
    script_.pop_front();
  }
  if (d.before.count() != 0) co_await sleep_for(d.before);
  if (d.reset_before_head) {
    static_cast<simulated_network&>(net_).reset(c);
    co_return false;
  }
  response r;
  r.head = d.raw;
  if (d.raw.empty()) r = response_to(request, d);
  auto writing = write_response(c, std::move(r), std::move(d));
  co_return co_await writing;
}

scripted_server::response scripted_server::response_to(const asked_for& request, const deed& d) const {
  response r;
  if (answers_ && !d.code) {
    if (std::optional<reply> own = answers_(request)) {
      const bool has_body = own->code != 204 && request.method != "HEAD";
      const std::string length = own->fields.find("Content-Length: ") != std::string::npos || own->code == 204
                                     ? std::string()
                                     : joined("Content-Length: ", own->body.size(), "\r\n");
      r.head = joined("HTTP/1.1 ", own->code, " Some Words\r\nX-Request-Id: r", log_.size() - 1, "\r\n", own->fields,
                      length, "\r\n");
      if (has_body) r.body = std::move(own->body);
      return r;
    }
  }
  auto found = objects_.find(request.target);
  int code = d.code ? d.code : found == objects_.end() ? 404 : 0;
  if (!code && !request.if_match.empty() && !d.whole && request.if_match != found->second.etag) code = 412;
  std::uint64_t first = 0, last = 0;
  const bool ranged = !d.whole && parse_range(request.range, first, last);
  if (!code && ranged && first >= found->second.bytes.size()) code = 416;
  std::string fields = d.fields;
  if (code) {
    r.body = d.body;
    if (code == 416) fields += joined("Content-Range: bytes */", found->second.bytes.size(), "\r\n");
  } else {
    const object& o = found->second;
    const std::string etag = d.etag.empty() ? o.etag : d.etag;
    if (etag != "none" && !etag.empty()) fields += joined("ETag: ", etag, "\r\n");
    last = ranged ? std::min<std::uint64_t>(last, o.bytes.size() - 1) : o.bytes.size();
    r.body = ranged ? o.bytes.substr(first, last - first + 1) : o.bytes;
    code = ranged ? 206 : 200;
    const std::string right = joined("bytes ", first, "-", last, "/", o.bytes.size());
    if (ranged && d.range != "none") fields += joined("Content-Range: ", d.range.empty() ? right : d.range, "\r\n");
  }
  const std::size_t told = r.body.size();
  if (d.more > 0) r.body.append(static_cast<std::size_t>(d.more), '!');
  if (d.more < 0) r.body.resize(r.body.size() - std::min(r.body.size(), static_cast<std::size_t>(-d.more)));
  if (d.chunked) r.body = in_chunks(r.body);
  fields += d.chunked ? std::string("Transfer-Encoding: chunked\r\n") : joined("Content-Length: ", told, "\r\n");
  r.head = joined("HTTP/1.1 ", code, " Some Words\r\nX-Request-Id: r", log_.size() - 1, "\r\n", fields, "\r\n");
  return r;
}

task<bool> scripted_server::write_response(connection& c, response r, deed d) {
  const std::size_t bad = std::min({d.reset_at, d.end_at, d.stall_at, r.body.size()});
  std::string text = r.head + r.body.substr(0, bad);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view piece = rest.substr(0, d.piece);
    auto writing = c.write(std::span<const char>(piece.data(), piece.size()));
    co_await writing;
    rest.remove_prefix(piece.size());
    if (d.between.count() != 0) co_await sleep_for(d.between);
  }
  if (d.stall_at == bad) co_await sleep_for(kForEver);
  if (d.reset_at == bad) static_cast<simulated_network&>(net_).reset(c);
  co_return bad == r.body.size() && d.end_at == deed::kNever&& d.reset_at == deed::kNever && !d.end_after;
}

task<> while_serving(std::vector<scripted_server*> servers, task<> client) {
  environment* env = co_await this_environment();
  status why;
  {
    scope all(*env);
    for (scripted_server* s : servers) all.spawn(s->serve());
    all.spawn(run_client(all, std::move(client), why));
    co_await all.join();
  }
  if (!why.ok()) co_await fail(std::move(why));
}

}  // namespace sluice::lib::testing
