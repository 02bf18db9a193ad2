// SPDX-License-Identifier: Apache-2.0
// Messages on a connection of the byte seam: their bytes, a source that reads them, and a sink that writes them.
//
//   head (20 bytes, little-endian):
//     0  u32  crc32c of the other 16 bytes, seeded with the protocol's version
//     4  u8   kind   5  u8 code of a status   6  u16 bytes of the method's name
//     8  u32  ordinal of the message on this connection and in this direction, from 0
//    12  u32  bytes of the payload
//    16  u32  crc32c of the payload
//   payload: call: method, request. reply: answer, or the text of the error. open: u64 credit, u64 frame limit, method,
//            request. frame: its bytes. end: the text of the error, if the code is not ok. credit: u64 bytes. refusal:
//            the text of an error of the transport, after which the connection is closed.
//
// The head has a checksum of its own, so that a size is trusted only if it was written by a peer of this protocol. A
// connection carries either calls, one after the other, or one stream.
#pragma once

#include <optional>
#include <string>

#include "io/messages/message_limits.hpp"
#include "sluice/io/network.hpp"
#include "sluice/io/transport.hpp"

namespace sluice::lib {

enum class message_kind : std::uint8_t { call = 1, reply, open, frame, end, credit, refusal };

struct message {
  message_kind kind{};
  status_code code{};
  slice method;
  slice payload;
};

void append_u64(std::string& to, std::uint64_t n);
std::uint64_t read_u64(const char* at) noexcept;

/// Reads messages. A call that fails with deadline_exceeded or `cancelled` has lost nothing, and may be repeated.
class message_source {
 public:
  /// `peer` is for messages: "127.0.0.1:80". `frame_bytes_max`: 0 if no frames are expected. REQUIRES: the connection
  /// outlives the source.
  message_source(connection& from, std::string peer, std::size_t frame_bytes_max)
      : from_(from), peer_(std::move(peer)), frame_bytes_max_(frame_bytes_max) {}
  void expect_frames(std::size_t bytes_max) noexcept { frame_bytes_max_ = bytes_max; }

  /// Returns the next message; nullopt if the peer has ended after a whole message. Errors: data_loss: bytes that are
  /// not of this protocol, a wrong checksum, a message above its limit; unavailable: the connection broke.
  task<std::optional<message>> next(time_point deadline);
  /// Waits until bytes arrive. Returns false if the peer has ended.
  task<bool> wait_for_bytes();

 private:
  struct head {
    message_kind kind{};
    status_code code{};
    std::size_t method_bytes = 0;
    std::size_t bytes = 0;
    std::uint32_t crc = 0;
  };
  /// Parses the head at begin_.
  result<head> parse_head() const;
  status limit_error(const head& h) const;
  status damaged(std::string_view reason) const;
  /// Makes room for `bytes` from begin_ on.
  void make_room(std::size_t bytes);
  /// Reads at least one byte. Returns false at the end.
  task<bool> fill(time_point deadline);
  result<message> finish();

  connection& from_;
  std::string peer_;
  std::size_t frame_bytes_max_;
  buffer_ref room_;  ///< what was read and not returned yet is [begin_, end_) of it
  std::size_t begin_ = 0, end_ = 0;
  std::optional<head> head_;  ///< of the message that is being read
  buffer_ref large_;          ///< its payload, if it is large: the first large_bytes_ have arrived
  std::size_t large_bytes_ = 0;
  std::uint32_t ordinal_ = 0;
};

/// Writes messages; small ones are collected until flush(). After an error the connection must be closed.
/// Thread: one call at a time.
class message_sink {
 public:
  /// REQUIRES: the connection outlives the sink.
  explicit message_sink(connection& to) : to_(to) {}
  /// The payload is `first`, then `rest`, which must stay valid until the task has ended.
  task<> put(message_kind kind, status_code code, std::size_t method_bytes, std::string first, std::string_view rest,
             time_point deadline);
  task<> flush(time_point deadline);

 private:
  connection& to_;
  std::string room_;
  std::uint32_t ordinal_ = 0;
};

}  // namespace sluice::lib
