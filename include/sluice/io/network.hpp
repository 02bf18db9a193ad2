// SPDX-License-Identifier: Apache-2.0
// Streams of bytes between processes: one of the seams (docs/architecture.md).
//
//   auto c = co_await net.connect("127.0.0.1:7000");
//   co_await c->write(request);
//   auto n = co_await c->read_some(room);
//
// Addresses are "host:port". Port 0 in listen() selects a free port, which listener::address() returns.
// Errors: unavailable (refused, reset, lost, closed here), invalid_argument (not an address).
// Cancel: a stop of the environment fails any wait with `cancelled`. It is unknown how much of a stopped write was
//         sent: close the connection then.
// Deadlines: moments on the environment's own clock. A wait that reaches its deadline fails with deadline_exceeded; the
//            message names the operation. A read or an accept that ended so has consumed nothing and may be repeated.
//            After a write it is unknown how much was sent: close the connection. A call whose deadline has passed
//            fails at once. Any other call that needs no waiting succeeds.
// Thread: one reader and one writer at a time on a connection, on any threads. The bytes passed in must stay valid
//         until the task has ended, and a task must not be destroyed before.
// Real: io/asio_network.hpp. Simulated: io/simulated_network.hpp.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sluice/coro/task.hpp"
#include "sluice/io/deadline.hpp"

namespace sluice::lib {

class connection {
 public:
  /// Closes the connection.
  virtual ~connection() = default;
  /// Reads 1 … to.size() bytes, as soon as any arrive. Returns 0 if the peer has finished writing.
  virtual task<std::size_t> read_some(std::span<char> to, time_point deadline = kNever) = 0;
  /// Writes all bytes. A return means that the system accepted them, not that the peer received them.
  virtual task<> write(std::span<const char> from, time_point deadline = kNever) = 0;
  /// Ends writing: the bytes written before still arrive, and then the peer reads 0. Reading remains possible.
  virtual task<> finish_writing() = 0;
  /// Closes at once. Waits on the connection fail with `unavailable`.
  virtual void close() noexcept = 0;
};

class listener {
 public:
  virtual ~listener() = default;
  virtual task<std::unique_ptr<connection>> accept(time_point deadline = kNever) = 0;
  /// The address, with the actual port.
  virtual const std::string& address() const noexcept = 0;
  virtual void close() noexcept = 0;
};

class network {
 public:
  virtual ~network() = default;
  virtual task<std::unique_ptr<listener>> listen(std::string address, time_point deadline = kNever) = 0;
  virtual task<std::unique_ptr<connection>> connect(std::string address, time_point deadline = kNever) = 0;
  /// Returns all addresses of a name, for connect(): for "objects:80" perhaps {"10.0.0.1:80", "[fd00::1]:80"}. A
  /// network without names returns the address itself. Errors: unavailable: the name does not exist, or no name server
  /// answers.
  virtual task<std::vector<std::string>> resolve(std::string address, time_point deadline = kNever);
};

/// Reads until `to` is full. Errors: unavailable if the peer ends before that.
task<> read_exactly(connection& from, std::span<char> to, time_point deadline = kNever);

struct host_and_port {
  std::string host;
  std::uint16_t port = 0;
};
/// Parses "127.0.0.1:80", "[::1]:80", "localhost:80". Errors: invalid_argument; the message describes the mistake.
result<host_and_port> parse_address(const std::string& text);

}  // namespace sluice::lib
