// SPDX-License-Identifier: Apache-2.0
#include "io/http/http_exchange.hpp"

#include <algorithm>
#include <cstring>

#include "io/http/messages/http_text.hpp"

namespace sluice::lib::detail {
namespace {

/// The bytes read at once before the end of the head is known. Heads have a KiB or less, and the bytes after the head
/// are copied.
constexpr std::size_t kEarlyBytes = 8 << 10;
/// The size of the pieces in which a body is sent.
constexpr std::size_t kPieceBytes = 256 << 10;

/// Adds the server's number of the request to the error, if it arrived before the invalid part of the head.
status numbered(status why, const response_head& head) {
  if (head.request_id.empty()) return why;
  return status(why.code(), joined(why.message(), " (request id ", head.request_id, ")"));
}

}  // namespace

http_exchange::http_exchange(connection_pool& pool, std::unique_ptr<connection> wire)
    : pool_(pool), wire_(std::move(wire)), early_(std::make_unique<char[]>(kEarlyBytes)) {}

http_exchange::~http_exchange() {
  if (wire_ && sent_ && ended_ && head().keep_alive && early_bytes() == 0) pool_.put(std::move(wire_));
}

status http_exchange::ended_early() const {
  if (!parser_.head_done()) return unavailable_error("the connection ended before the response began");
  const std::string of = head().length ? joined(" of ", *head().length) : std::string();
  return unavailable_error(joined("the connection ended after ", body_bytes_, of, " bytes of the response"));
}

task<> http_exchange::fill_early(time_point deadline) {
  auto reading = wire_->read_some(std::span<char>(early_.get(), kEarlyBytes), deadline);
  const std::size_t n = co_await reading;
  early_begin_ = 0;
  early_end_ = n;
  heard_ = heard_ || n != 0;
  if (n == 0) co_await fail(ended_early());
}

task<> http_exchange::send(http_message request, clock& time, duration stall, time_point deadline) {
  auto sending = wire_->write(request.head, std::min(deadline, time.now() + stall));
  co_await sending;
  for (std::span<const char> rest = request.body; !rest.empty();) {
    const std::span<const char> piece = rest.first(std::min(rest.size(), kPieceBytes));
    auto writing = wire_->write(piece, std::min(deadline, time.now() + stall));
    co_await writing;
    rest = rest.subspan(piece.size());
  }
  sent_ = true;
}

task<> http_exchange::ask(http_message request, clock& time, duration stall, time_point deadline) {
  const bool has_body = !request.body.empty();
  const bool answer_has_body = request.answer_has_body;
  auto sending = send(std::move(request), time, stall, deadline);
  status sent = co_await sending.as_result();
  // A server that refuses a request need not read its whole body. The response that it has sent until then is the
  // answer.
  const bool may_have_answered = has_body && sent.code() == status_code::unavailable;
  if (!sent.ok() && !may_have_answered) co_await fail(std::move(sent));
  deadline = std::min(deadline, time.now() + stall);
  while (!parser_.head_done()) {
    if (early_bytes() == 0) {
      auto reading = fill_early(deadline);
      co_await reading;
    }
    auto used = parser_.take_head(std::string_view(early_.get() + early_begin_, early_bytes()));
    if (!used.ok()) co_await fail(numbered(used.why(), head()));
    early_begin_ += *used;
  }
  ended_ = !answer_has_body || head().length == 0;
}

task<std::size_t> http_exchange::read_body(std::span<char> to, time_point deadline) {
  to = to.first(
      static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), expected_ - std::min(expected_, body_bytes_))));
  if (ended_ || to.empty()) co_return std::size_t{0};
  if (head().chunked) {
    auto reading = read_chunks(to, deadline);
    co_return co_await reading;
  }
  const std::uint64_t left = head().length ? *head().length - body_bytes_ : to.size();
  to = to.first(static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), left)));
  std::size_t n = std::min(to.size(), early_bytes());
  if (n != 0) {
    std::memcpy(to.data(), early_.get() + early_begin_, n);
    early_begin_ += n;
  } else {
    auto reading = wire_->read_some(to, deadline);
    n = co_await reading;
    if (n == 0 && head().length) co_await fail(ended_early());
  }
  body_bytes_ += n;
  ended_ = head().length ? body_bytes_ == *head().length : n == 0;
  co_return n;
}

task<std::size_t> http_exchange::read_chunks(std::span<char> to, time_point deadline) {
  for (;;) {
    if (early_bytes() == 0) {
      auto reading = fill_early(deadline);
      co_await reading;
    }
    auto step = parser_.take_chunks(std::string_view(early_.get() + early_begin_, early_bytes()), to);
    if (!step.why.ok()) co_await fail(std::move(step.why));
    early_begin_ += step.used;
    body_bytes_ += step.given;
    ended_ = step.ended;
    if (step.given != 0 || ended_) co_return step.given;
  }
}

}  // namespace sluice::lib::detail
