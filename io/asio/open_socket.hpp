// SPDX-License-Identifier: Apache-2.0
// A connected socket: workers try it without waiting; the asio thread waits on it, and closes it.
//
// Bytes that have arrived need no hop to the asio thread and back, which costs more than the bytes do: the worker
// itself sends a request and reads a body. A worker that would have to wait leaves that to asio, which tries once more
// when it begins, so that nothing that comes in between is missed. Ends and errors are reported here, too: asio would
// wait for a change after them, and none comes.
//
// Thread: one who tries to read and one who tries to write, on any threads, while asio's is where the socket waits and is closed.
#pragma once

#include <sys/socket.h>

#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <cerrno>
#include <mutex>
#include <shared_mutex>
#include <span>

#include "sluice/base/assert.hpp"

namespace sluice::lib {

struct open_socket {
  explicit open_socket(asio::io_context& io) : waits(io) {}

  asio::ip::tcp::socket waits;  ///< the asio thread's

  struct tried {
    std::size_t bytes = 0;  ///< 0 of a read that need not wait: the peer has sent its last
    bool must_wait = false;
    asio::error_code wrong = {};
  };
  /// REQUIRES: `to` has room.
  tried try_read(std::span<char> to) noexcept {
    SLUICE_REQUIRES(!to.empty(), "a read has room");
    std::shared_lock held(closing_);
    if (!waits.is_open()) return closed();
    return outcome_of(::recv(waits.native_handle(), to.data(), to.size(), MSG_DONTWAIT));
  }
  /// From the first byte on, as many as there is room for. REQUIRES: there are any.
  tried try_write(std::span<const char> from) noexcept {
    SLUICE_REQUIRES(!from.empty(), "a write has bytes");
    std::shared_lock held(closing_);
    if (!waits.is_open()) return closed();
    return outcome_of(::send(waits.native_handle(), from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  }
  /// On the asio thread. Nobody is within a try then: the number of a descriptor that is closed may be another's next.
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
