// SPDX-License-Identifier: Apache-2.0
#if SLUICE_HAVE_TLS
#include "http/fault_proxy.hpp"

#include <algorithm>
#include <optional>

#include "http/object_server.hpp"
#include "http/scripted_server.hpp"

namespace sluice::lib::testing {
namespace {

/// Written at once.
constexpr std::size_t kPieceBytes = 64 << 10;

std::string target_of(const std::string& request) { return request.substr(4, request.find(' ', 4) - 4); }

std::string request_without(std::string head, const std::string& field) {
  const std::size_t at = head.find("\r\n" + field + ": ");
  if (at != std::string::npos) head.erase(at, head.find("\r\n", at + 2) - at);
  return head;
}

std::string number(std::size_t index) { return "X-Request-Id: p" + std::to_string(index) + "\r\n"; }

std::string made_up(const fault& f, std::size_t index) {
  const std::string body = "<Error><Code>MadeUp</Code></Error>\n";
  return "HTTP/1.1 " + std::to_string(f.code) + " Made Up\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         number(index) + f.fields + "\r\n" + body;
}

std::uint64_t place(std::int64_t at, std::uint64_t length) {
  if (at >= 0) return std::min(static_cast<std::uint64_t>(at), length);
  return length - std::min(static_cast<std::uint64_t>(-at), length);
}

}  // namespace

fault_proxy::fault_proxy(int server, std::shared_ptr<SSL_CTX> tls) : server_(server), tls_(std::move(tls)) { start(); }

void fault_proxy::script(const std::string& target, std::vector<fault> faults, bool continues) {
  std::lock_guard lock(mutex_);
  plays_[target] = {std::move(faults), continues};
}

void fault_proxy::script_handshakes(std::vector<handshake> first, bool continues) {
  std::lock_guard lock(mutex_);
  handshakes_ = std::move(first);
  handshakes_go_on_ = continues;
}

std::vector<proxied> fault_proxy::log() const {
  std::lock_guard lock(mutex_);
  return log_;
}

std::size_t fault_proxy::connections() const {
  std::lock_guard lock(mutex_);
  return connections_;
}

fault fault_proxy::begin(const std::string& head, std::size_t connection, std::size_t& index) {
  std::lock_guard lock(mutex_);
  play& p = plays_[target_of(head)];
  const std::size_t n = p.continues && !p.faults.empty() ? std::min(p.asked, p.faults.size() - 1) : p.asked;
  ++p.asked;
  const fault f = n < p.faults.size() ? p.faults[n] : fault{};
  index = log_.size();
  log_.push_back({target_of(head), field_of(head, "Range"), field_of(head, "If-Match"), connection});
  log_.back().was_sound = f.is_sound();
  return f;
}

void fault_proxy::count_code(std::size_t index, int code) {
  std::lock_guard lock(mutex_);
  log_[index].code = code;
}

void fault_proxy::count_bytes(std::size_t index, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  log_[index].bytes += bytes;
}

void fault_proxy::converse(wire& with) {
  std::size_t connection = 0;
  handshake how = handshake::sound;
  {
    std::lock_guard lock(mutex_);
    connection = connections_++;
    if (connection < handshakes_.size()) how = handshakes_[connection];
    else if (handshakes_go_on_) how = handshakes_.back();
  }
  if (tls_ && !with.secure(tls_.get(), how)) return;
  passage through{with, connection};
  std::string rest;
  while (auto request = read_head(with, rest)) {
    std::size_t index = 0;
    const fault f = begin(*request, connection, index);
    if (f.late.count() != 0 && with.is_left_within(f.late)) return;
    if (!answer(through, *request, f, index)) return;
  }
}

bool fault_proxy::answer(passage& through, const std::string& request, const fault& f, std::size_t index) {
  wire& reader = through.reader;
  if (f.reset_before_head) reader.reset();
  if (f.end_before_head) reader.end();
  if (f.stall_before_head) reader.stall();
  if (f.reset_before_head || f.end_before_head || f.stall_before_head) return false;
  if (f.code != 0) {
    count_code(index, f.code);
    return reader.write(made_up(f, index));
  }
  std::string forwarded = f.forgets_range ? request_without(request, "Range") : request;
  if (f.forgets_version) forwarded = request_without(forwarded, "If-Match");
  std::optional<std::string> head;
  // A server may have ended an idle connection meanwhile.
  for (int i = 0; i != 2 && !head; ++i) {
    if (!through.server) through.server = connect_to(server_);
    if (through.server && through.server->write(forwarded)) head = read_head(*through.server, through.server_rest);
    if (!head) through.server.reset();
  }
  if (!head) return false;
  const std::uint64_t length = std::strtoull(field_of(*head, "Content-Length").c_str(), nullptr, 10);
  count_code(index, std::atoi(head->c_str() + head->find(' ')));
  std::string told = f.instead_of.empty() ? *head : request_without(*head, f.instead_of);
  if (f.says_more != 0) {
    const auto says = static_cast<std::int64_t>(length) + f.says_more;
    told = request_without(told, "Content-Length");
    told.insert(told.size() - 2, "Content-Length: " + std::to_string(says) + "\r\n");
  }
  told.insert(told.size() - 2, number(index) + f.fields);
  if (!(f.by_the_byte ? reader.write_by_the_byte(told) : reader.write(told))) return false;
  return relay_body(through, length, f, index);
}

bool fault_proxy::relay_body(passage& through, std::uint64_t length, const fault& f, std::size_t index) {
  wire& reader = through.reader;
  const std::uint64_t cut = std::min({place(f.reset_at, length), place(f.end_at, length), place(f.stall_at, length)});
  std::string room(kPieceBytes, '\0');
  for (std::uint64_t done = 0; done != cut;) {
    std::string_view piece = through.server_rest;
    const bool slowly = done < f.by_the_byte;
    const auto most = static_cast<std::size_t>(
        std::min<std::uint64_t>({room.size(), cut - done, slowly ? f.by_the_byte - done : room.size()}));
    if (piece.empty()) piece = {room.data(), through.server->read(std::span<char>(room.data(), most))};
    piece = piece.substr(0, most);
    if (piece.empty()) return false;
    if (!(slowly ? reader.write_by_the_byte(piece) : reader.write(piece))) return false;
    done += piece.size();
    count_bytes(index, piece.size());
    if (!through.server_rest.empty()) through.server_rest.erase(0, piece.size());
  }
  const bool is_cut = f.reset_at != fault::kNowhere || f.end_at != fault::kNowhere || f.stall_at != fault::kNowhere;
  if (f.reset_at != fault::kNowhere) reader.reset();
  if (f.end_at != fault::kNowhere) reader.end();
  if (f.stall_at != fault::kNowhere) reader.stall();
  return !is_cut && reader.write(std::string(f.bytes_behind, '!'));
}

}  // namespace sluice::lib::testing
#endif
