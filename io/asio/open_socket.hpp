// SPDX-License-Identifier: Apache-2.0
// A connected socket. Workers read and write without waiting; the asio thread waits for it and closes it.
//
// A hop to the asio thread and back costs more than reading the bytes that have arrived. A worker therefore sends a
// request and reads a body itself. If it would have to wait, it passes the call to asio, which tries once more when it
// begins, so that nothing that arrives in between is missed. Ends and errors are reported here, too, because asio would
// wait for a change after them, and none comes.
//
// Thread: one reader and one writer, on any threads. The asio thread waits for the socket and closes it.
#pragma once

#include <sys/socket.h>

#include <asio/error.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <cerrno>
#include <mutex>
#include <shared_mutex>
#include <span>

#include "sluice/base/assert.hpp"

namespace sluice::lib {

struct open_socket {
  explicit open_socket(asio::io_context& io) : waits(io) {}

  asio::generic::stream_protocol::socket waits;  ///< TCP or Unix; used by the asio thread only

  struct tried {
    std::size_t bytes = 0;  ///< 0 after a read that need not wait: the peer has closed its side
    bool must_wait = false;
    asio::error_code wrong = {};
  };
  /// Reads without waiting. REQUIRES: `to` is not empty.
  tried try_read(std::span<char> to) noexcept {
    SLUICE_REQUIRES(!to.empty(), "a read has room");
    std::shared_lock held(closing_);
    if (!waits.is_open()) return closed();
    return outcome_of(::recv(waits.native_handle(), to.data(), to.size(), MSG_DONTWAIT));
  }
  /// Writes as many bytes as fit without waiting, from the first on. REQUIRES: `from` is not empty.
  tried try_write(std::span<const char> from) noexcept {
    SLUICE_REQUIRES(!from.empty(), "a write has bytes");
    std::shared_lock held(closing_);
    if (!waits.is_open()) return closed();
    return outcome_of(::send(waits.native_handle(), from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  }
  /// Closes the socket on the asio thread. No try may be in progress, because the system may give the descriptor's
  /// number to another file.
  void close() noexcept {
    std::unique_lock held(closing_);
    asio::error_code ignored;
    waits.close(ignored);
  }

 private:
  static tried closed() noexcept { return {.wrong = asio::error::operation_aborted}; }
  static tried outcome_of(ssize_t n) noexcept {
    if (n >= 0) return {.bytes = static_cast<std::size_t>(n)};
    if (errno == EAGAIN || errno == EINTR) return {.must_wait = true};
    return {.wrong = asio::error_code(errno, asio::error::get_system_category())};
  }

  std::shared_mutex closing_;  ///< guards no member: shared within a try, exclusive within close()
};

}  // namespace sluice::lib
