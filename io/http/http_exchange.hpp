// SPDX-License-Identifier: Apache-2.0
// Sends one request and receives its response on one connection.
//
//   http_exchange one(pool, std::move(wire));
//   co_await one.ask(request, time, stall, deadline);    // returns when the head has arrived: one.head()
//   while (auto n = co_await one.read_body(room, deadline)) …
//   // the destructor returns the connection for the next request if the response was read to its end, else it closes it
//
// Bodies are received directly in the caller's memory. Only bytes that arrive with the head, and chunks, are copied.
// Errors: unavailable: the connection was lost, or ended before the response did; data_loss: an invalid response;
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
  http_exchange(connection_pool& pool, std::unique_ptr<connection> wire);
  http_exchange(const http_exchange&) = delete;
  ~http_exchange();

  /// Sends the request and waits for the head of the response. Each piece of the body, and the head, may take up to
  /// `stall`, measured with `time`.
  task<> ask(http_message request, clock& time, duration stall, time_point deadline);
  const response_head& head() const { return parser_.head(); }
  /// Returns true if at least one byte of the response has arrived.
  bool was_heard() const { return heard_; }
  /// Returns the time from the request to the first byte of the response.
  duration answered_after() const { return answered_after_; }
  void set_answered_after(duration d) { answered_after_ = d; }

  /// Limits the body to this number of bytes. Bytes after them, in chunks that are too long, are not delivered.
  void expect_body(std::uint64_t bytes) { expected_ = bytes; }
  /// Reads up to to.size() bytes; returns 0 at the end.
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
  bool heard_ = false;
  duration answered_after_{};
  bool sent_ = false;  ///< the whole request was sent
  bool ended_ = false;
  response_parser parser_;
  std::unique_ptr<char[]> early_;  ///< bytes received before the caller asked for them
  std::size_t early_begin_ = 0, early_end_ = 0;
  std::uint64_t body_bytes_ = 0;  ///< bytes delivered so far
  std::uint64_t expected_ = ~std::uint64_t{0};
};

}  // namespace sluice::lib::detail
