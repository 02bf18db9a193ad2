// SPDX-License-Identifier: Apache-2.0
#include "io/grpc/grpc_bytes.hpp"

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sluice/base/crc32c.hpp"

namespace sluice::lib {
namespace {

/// Sharing a smaller buffer costs more than copying it.
constexpr std::size_t kCopiedFrameMax = 4096;

void put_number(char* to, std::uint32_t n, int bytes) noexcept {
  for (int i = 0; i != bytes; ++i) to[i] = static_cast<char>(n >> (8 * i));
}
std::uint32_t get_number(const char* from, int bytes) noexcept {
  std::uint32_t n = 0;
  for (int i = 0; i != bytes; ++i) n |= std::uint32_t{static_cast<unsigned char>(from[i])} << (8 * i);
  return n;
}

void write_head(char* to, message_kind kind, status_code code, std::size_t method_bytes, std::string_view first,
                std::string_view rest) noexcept {
  to[4] = static_cast<char>(kind);
  to[5] = static_cast<char>(code);
  put_number(to + 6, static_cast<std::uint32_t>(method_bytes), 2);
  put_number(to, crc32c(rest, crc32c(first, crc32c({to + 4, kGrpcHeadBytes - 4}))), 4);
}

void drop_buffer(void* b) { static_cast<buffer*>(b)->drop_references(1); }

}  // namespace

grpc::ByteBuffer grpc_message(message_kind kind, status_code code, std::size_t method_bytes, std::string_view first,
                              std::string_view rest) {
  std::string all(kGrpcHeadBytes, '\0');
  all.reserve(kGrpcHeadBytes + first.size() + rest.size());
  write_head(all.data(), kind, code, method_bytes, first, rest);
  all.append(first).append(rest);
  grpc::Slice whole(all.data(), all.size());
  return {&whole, 1};
}

grpc::ByteBuffer grpc_frame(slice frame) {
  if (!frame.owner() || frame.size() <= kCopiedFrameMax)
    return grpc_message(message_kind::frame, status_code::ok, 0, frame.view(), {});
  char head[kGrpcHeadBytes] = {};
  write_head(head, message_kind::frame, status_code::ok, 0, frame.view(), {});
  frame.owner()->add_references(1);
  grpc::Slice both[2] = {
      grpc::Slice(head, kGrpcHeadBytes),
      grpc::Slice(const_cast<char*>(frame.data()), frame.size(), &drop_buffer, static_cast<void*>(frame.owner()))};
  return {both, 2};
}

result<message> read_grpc_message(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> parts;
  if (!bytes.Dump(&parts).ok()) return status(status_code::data_loss, "gRPC cannot decompress a message");
  const std::size_t size = bytes.Length();
  if (size < kGrpcHeadBytes) return status(status_code::data_loss, absl::StrCat("a message of ", size, " bytes"));
  char head[kGrpcHeadBytes];
  buffer_ref room(buffer::make(std::max<std::size_t>(1, size - kGrpcHeadBytes)));
  std::size_t at = 0;  // of the whole message
  for (const grpc::Slice& part : parts) {
    const char* from = reinterpret_cast<const char*>(part.begin());
    std::size_t left = part.size();
    if (at < kGrpcHeadBytes) {
      const std::size_t n = std::min(left, kGrpcHeadBytes - at);
      std::memcpy(head + at, from, n);
      at += n, from += n, left -= n;
    }
    if (left) std::memcpy(room->data() + (at - kGrpcHeadBytes), from, left);
    at += left;
  }
  const std::string_view payload(room->data(), size - kGrpcHeadBytes);
  const std::uint32_t expected = get_number(head, 4);
  const std::uint32_t found = crc32c(payload, crc32c({head + 4, kGrpcHeadBytes - 4}));
  if (found != expected)
    return status(status_code::data_loss, absl::StrCat("the checksum of a message of ", size, " bytes is ",
                                                       absl::Hex(found), ", expected ", absl::Hex(expected)));
  message m;
  m.kind = static_cast<message_kind>(head[4]);
  m.code = static_cast<status_code>(head[5]);
  const std::size_t method_bytes = get_number(head + 6, 2);
  const std::size_t fixed = m.kind == message_kind::open ? 16 : m.kind == message_kind::credit ? 8 : 0;
  if (payload.size() < fixed + method_bytes) return status(status_code::data_loss, "a message shorter than its parts");
  const char* data = room->data();
  m.payload = slice(room.release(), data, payload.size());
  if (method_bytes) m.method = m.payload.part(fixed, method_bytes);
  return m;
}

status status_of(const grpc::Status& s) {
  // A server that is shut down cancels its calls. A caller's own cancel and deadline are reported before gRPC's.
  const bool is_own =
      s.error_code() == grpc::StatusCode::CANCELLED || s.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  if (is_own) return unavailable_error(absl::StrCat("the server has ended the call: ", s.error_message()));
  // gRPC's words about a connection whose first bytes are no frame of HTTP/2. No later call would find other ones.
  if (s.error_message().find("Failed parsing HTTP/2") != std::string::npos)
    return data_loss_error(
        "it does not speak gRPC; start all dispatchers, workers and consumers of a service with the same --transport");
  return peer_status(static_cast<status_code>(s.error_code()), s.error_message());
}
grpc::Status grpc_status_of(const status& why) { return {static_cast<grpc::StatusCode>(why.code()), error_text(why)}; }

}  // namespace sluice::lib
