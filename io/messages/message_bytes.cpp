// SPDX-License-Identifier: Apache-2.0
#include "io/messages/message_bytes.hpp"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "sluice/base/crc32c.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kHeadBytes = 20;
/// The seed of the checksum of heads. Another version of the protocol gets another seed, so that versions do not read
/// each other's messages.
constexpr std::uint32_t kProtocol = 0x736c7501;
constexpr std::size_t kRoomBytes = std::size_t{64} << 10;
/// Larger payloads get a buffer of their own.
constexpr std::size_t kSharedPayloadMax = std::size_t{16} << 10;
/// A read with less room than this would cost more than moving the rest to a new buffer.
constexpr std::size_t kReadMin = std::size_t{4} << 10;

void put_le(char* to, std::uint64_t n, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i != bytes; ++i) to[i] = static_cast<char>(n >> (8 * i));
}
std::uint64_t get_le(const char* from, std::size_t bytes) noexcept {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i != bytes; ++i) n |= std::uint64_t{static_cast<unsigned char>(from[i])} << (8 * i);
  return n;
}
std::uint32_t get_u32(const char* from) noexcept { return static_cast<std::uint32_t>(get_le(from, 4)); }

/// Returns true for the first bytes of a client or server of HTTP/2, as gRPC's: its preface, or a frame of settings.
bool is_http2(const char* head) noexcept {
  constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n";
  constexpr std::string_view kSettings("\4\0\0\0\0\0", 6);  // after three bytes of a small size
  return std::string_view(head, kPreface.size()) == kPreface ||
         (head[0] == 0 && head[1] == 0 && std::string_view(head + 3, kSettings.size()) == kSettings);
}

}  // namespace

void append_u64(std::string& to, std::uint64_t n) {
  to.resize(to.size() + 8);
  put_le(to.data() + to.size() - 8, n, 8);
}
std::uint64_t read_u64(const char* at) noexcept { return get_le(at, 8); }

status message_source::damaged(std::string_view reason) const {
  return status(status_code::data_loss, absl::StrCat(peer_, ": ", std::string(reason)));
}

status message_source::limit_error(const head& h) const {
  std::size_t most = kCallBytesMax + kMethodBytesMax + 16;
  if (h.kind == message_kind::frame) most = frame_bytes_max_;
  if (h.kind == message_kind::end || h.kind == message_kind::refusal) most = kErrorTextBytesMax;
  if (h.kind == message_kind::credit) most = 8;
  if (h.bytes <= most) return {};
  return damaged(absl::StrCat("a message of ", h.bytes, " bytes exceeds its limit of ", most));
}

result<message_source::head> message_source::parse_head() const {
  const char* at = room_->data() + begin_;
  const bool is_head = get_u32(at) == crc32c({at + 4, kHeadBytes - 4}, kProtocol);
  if (!is_head && ordinal_ == 0 && is_http2(at))
    return damaged(
        "it speaks gRPC, and this process sluice's own protocol over TCP; start all dispatchers, workers and "
        "consumers of a service with the same --transport");
  if (!is_head) return damaged("these bytes are not a message of sluice's protocol, or they are damaged");
  head h;
  h.kind = static_cast<message_kind>(at[4]);
  h.code = static_cast<status_code>(at[5]);
  h.method_bytes = get_le(at + 6, 2);
  h.bytes = get_u32(at + 12);
  h.crc = get_u32(at + 16);
  if (h.kind < message_kind::call || h.kind > message_kind::refusal) return damaged("a message of an unknown kind");
  if (get_u32(at + 8) != ordinal_) return damaged(absl::StrCat("message ", get_u32(at + 8), " instead of ", ordinal_));
  const std::size_t fixed = h.kind == message_kind::open ? 16 : h.kind == message_kind::credit ? 8 : 0;
  if (h.bytes < fixed + h.method_bytes) return damaged("a message is shorter than its parts");
  status too_large = limit_error(h);
  if (!too_large.ok()) return too_large;
  return h;
}

void message_source::make_room(std::size_t bytes) {
  if (room_ && begin_ == end_ && room_->unshared()) begin_ = end_ = 0;
  const bool fits = room_ && room_->capacity() - begin_ >= bytes && room_->capacity() - end_ >= kReadMin;
  if (fits) return;
  const std::size_t rest = end_ - begin_;
  if (room_ && room_->unshared()) {
    std::memmove(room_->data(), room_->data() + begin_, rest);
  } else {
    buffer_ref fresh(buffer::make(kRoomBytes));
    if (rest) std::memcpy(fresh->data(), room_->data() + begin_, rest);
    room_ = std::move(fresh);
  }
  begin_ = 0;
  end_ = rest;
}

task<bool> message_source::fill(time_point deadline) {
  std::span<char> to(room_->data() + end_, room_->capacity() - end_);
  auto n = co_await from_.read_some(to, deadline);
  end_ += n;
  co_return n != 0;
}

task<bool> message_source::wait_for_bytes() {
  if (end_ != begin_) co_return true;
  make_room(kHeadBytes);
  auto any = co_await fill(kNever);
  co_return any;
}

task<std::optional<message>> message_source::next(time_point deadline) {
  if (!head_) {
    while (end_ - begin_ < kHeadBytes) {
      make_room(kHeadBytes);
      auto more = co_await fill(deadline);
      if (more) continue;
      if (end_ == begin_) co_return std::optional<message>();
      co_await fail(unavailable_error(absl::StrCat(peer_, ": the connection ended within a message")));
    }
    auto parsed = parse_head();
    if (!parsed.ok()) co_await fail(parsed.why());
    head_ = *parsed;
    begin_ += kHeadBytes;
    if (head_->bytes > kSharedPayloadMax) {
      large_ = buffer_ref(buffer::make(head_->bytes));
      large_bytes_ = std::min(head_->bytes, end_ - begin_);
      std::memcpy(large_->data(), room_->data() + begin_, large_bytes_);
      begin_ += large_bytes_;
    }
  }
  while (large_ && large_bytes_ < head_->bytes) {
    std::span<char> to(large_->data() + large_bytes_, head_->bytes - large_bytes_);
    auto n = co_await from_.read_some(to, deadline);
    if (n == 0) co_await fail(unavailable_error(absl::StrCat(peer_, ": the connection ended within a message")));
    large_bytes_ += n;
  }
  while (!large_ && end_ - begin_ < head_->bytes) {
    make_room(head_->bytes);
    auto more = co_await fill(deadline);
    if (!more) co_await fail(unavailable_error(absl::StrCat(peer_, ": the connection ended within a message")));
  }
  auto whole = finish();
  if (!whole.ok()) co_await fail(whole.why());
  co_return std::move(*whole);
}

result<message> message_source::finish() {
  const head h = *head_;
  head_.reset();
  ++ordinal_;
  slice payload;
  if (large_) {
    const char* at = large_->data();
    payload = slice(large_.release(), at, h.bytes);
  } else if (h.bytes) {
    room_->add_references(1);
    payload = slice(room_.get(), room_->data() + begin_, h.bytes);
    begin_ += h.bytes;
  }
  if (const std::uint32_t found = crc32c(payload.view()); found != h.crc)
    return damaged(absl::StrCat("the checksum of a message of ", h.bytes, " bytes is ", absl::Hex(found), ", expected ",
                                absl::Hex(h.crc)));
  message m;
  m.kind = h.kind;
  m.code = h.code;
  if (h.method_bytes) {
    const std::size_t at = h.kind == message_kind::open ? 16 : 0;
    m.method = payload.part(at, h.method_bytes);
  }
  m.payload = std::move(payload);
  return m;
}

task<> message_sink::put(message_kind kind, status_code code, std::size_t method_bytes, std::string first,
                         std::string_view rest, time_point deadline) {
  char head[kHeadBytes] = {};
  head[4] = static_cast<char>(kind);
  head[5] = static_cast<char>(code);
  put_le(head + 6, method_bytes, 2);
  put_le(head + 8, ordinal_++, 4);
  put_le(head + 12, first.size() + rest.size(), 4);
  put_le(head + 16, crc32c(rest, crc32c(first)), 4);
  put_le(head, crc32c({head + 4, kHeadBytes - 4}, kProtocol), 4);
  room_.append(head, kHeadBytes);
  room_.append(first);
  const bool is_large = rest.size() > kSharedPayloadMax;
  if (!is_large) room_.append(rest);
  if (is_large || room_.size() >= kRoomBytes) co_await flush(deadline);
  if (is_large) co_await to_.write(std::span<const char>(rest), deadline);
}

task<> message_sink::flush(time_point deadline) {
  if (room_.empty()) co_return;
  co_await to_.write(std::span<const char>(room_), deadline);
  room_.clear();
}

}  // namespace sluice::lib
