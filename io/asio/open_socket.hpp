// SPDX-License-Identifier: Apache-2.0
// A connected socket: workers try it without waiting; the asio thread waits on it, and closes it.
//
// What is here already needs no hop to the asio thread and back, which costs more than the bytes do: a request goes out, and a
// body comes in, on the worker that wants it. A reader that finds nothing leaves the wait to asio, which tries once more itself
// when it begins, so nothing that comes in between is missed. Errors are asio's to meet and to tell.
//
// Thread: one who tries to read and one who tries to write, on any threads, while asio's is where the socket waits and is closed.
#pragma once

#include <sys/socket.h>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <mutex>
#include <shared_mutex>
#include <span>

namespace sluice::lib {

struct open_socket {
  explicit open_socket(asio::io_context& io) : waits(io) {}

  asio::ip::tcp::socket waits;  ///< the asio thread's

  /// Bytes read; 0: it has to be waited for, or asio asked what is wrong.
  std::size_t try_read(std::span<char> to) noexcept {
    std::shared_lock held(closing_);
    if (!waits.is_open()) return 0;
    const ssize_t n = ::recv(waits.native_handle(), to.data(), to.size(), MSG_DONTWAIT);
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  /// Bytes written, from the first on.
  std::size_t try_write(std::span<const char> from) noexcept {
    std::shared_lock held(closing_);
    if (!waits.is_open()) return 0;
    const ssize_t n = ::send(waits.native_handle(), from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  /// On the asio thread. Nobody is within a try then: the number of a descriptor that is closed may be another's next.
  void close() noexcept {
    std::unique_lock held(closing_);
    asio::error_code ignored;
    waits.close(ignored);
  }

 private:
  std::shared_mutex closing_;
};

}  // namespace sluice::lib
