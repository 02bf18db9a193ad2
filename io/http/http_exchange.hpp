// SPDX-License-Identifier: Apache-2.0
// One request and its response on one connection.
//
//   http_exchange one(pool, std::move(wire), reused);
//   co_await one.ask(request, time, stall, deadline);    // sent, and the head has come: one.head()
//   while (auto n = co_await one.read_body(room, deadline)) …
//   // destroyed: the connection serves the next request if the response was read to its end, else it is closed
//
// Bodies are received where they belong; only what came along with the head, and chunks, are copied.
// Errors: unavailable: the connection was lost, or ended before the response did; data_loss: a response that is none;
//         deadline_exceeded, cancelled.
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "io/http/connections/connection_pool.hpp"
#include "io/http/messages/http_request.hpp"
#include "io/http/messages/response_parser.hpp"

namespace sluice::lib::detail {

class http_exchange {
 public:
  http_exchange(connection_pool& pool, std::unique_ptr<connection> wire, bool reused);
  http_exchange(const http_exchange&) = delete;
  ~http_exchange();

  /// A body is sent piece by piece, each of which may take as long as `stall`; so may the head of the answer. The
  /// time is `time`'s.
  task<> ask(http_message request, clock& time, duration stall, time_point deadline);
  const response_head& head() const { return parser_.head(); }
  /// The connection had served another request before. Its server may have ended it at any moment since.
  bool was_reused() const { return reused_; }
  /// Returns true if at least one byte of the response has arrived.
  bool was_heard() const { return heard_; }
  /// A response that ends with its connection may have lost its end, and this cannot be detected.
  bool has_known_end() const { return head().chunked || head().length.has_value(); }

  /// Limits the body to this number of bytes: bytes after them, in chunks that are too long, are not delivered.
  void expect_body(std::uint64_t bytes) { expected_ = bytes; }
  /// Up to to.size() bytes; 0: that was all.
  task<std::size_t> read_body(std::span<char> to, time_point deadline);
  bool ended() const { return ended_; }

 private:
  task<> send(http_message request, clock& time, duration stall, time_point deadline);
  task<std::size_t> read_chunks(std::span<char> to, time_point deadline);
  task<> fill_early(time_point deadline);
  status ended_early() const;
  std::size_t early_bytes() const { return early_end_ - early_begin_; }

  connection_pool& pool_;
  std::unique_ptr<connection> wire_;
  bool reused_;
  bool heard_ = false;
  bool sent_ = false;  ///< the whole request
  bool ended_ = false;
  response_parser parser_;
  std::unique_ptr<char[]> early_;  ///< received, and not yet the caller's
  std::size_t early_begin_ = 0, early_end_ = 0;
  std::uint64_t body_bytes_ = 0;  ///< given so far
  std::uint64_t expected_ = ~std::uint64_t{0};
};

}  // namespace sluice::lib::detail
