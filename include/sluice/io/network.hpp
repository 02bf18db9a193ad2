// SPDX-License-Identifier: Apache-2.0
// Streams of bytes between processes: one of the five seams.
//
//   auto c = co_await net.connect("127.0.0.1:7000");
//   co_await c->write(request);
//   auto n = co_await c->read_some(room);
//
// Addresses are "host:port"; port 0 in listen() takes a free one, which listener::address() then tells.
// Errors: unavailable (refused, reset, lost, closed here), invalid_argument (an address that is none).
// Cancel: a stop of the environment fails any wait with `cancelled`. Nobody knows how much of a stopped write went out:
//         close the connection then.
// Deadlines: moments of the environment's own clock. A wait that reaches its deadline fails with deadline_exceeded, which names
//         what was waited for. A read or an accept that ended so has taken nothing and may be tried again; after a write
//         nobody knows how much went out: close the connection. A call whose deadline has passed fails at once; any other one
//         that needs no waiting succeeds.
// Thread: one reader and one writer at a time on a connection, on any threads. Bytes handed in must stay until the task
//         has ended, and a task must not be destroyed before.
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
  /// Closes.
  virtual ~connection() = default;
  /// 1 … to.size() bytes, as soon as there are any; 0: the peer has sent its last.
  virtual task<std::size_t> read_some(std::span<char> to, time_point deadline = kNever) = 0;
  /// All of them. Returning means handed over, not received.
  virtual task<> write(std::span<const char> from, time_point deadline = kNever) = 0;
  /// What was written still arrives; the peer reads 0 after it. Reading goes on.
  virtual task<> finish_writing() = 0;
  /// At once; waits on it fail with `unavailable`.
  virtual void close() noexcept = 0;
};

class listener {
 public:
  virtual ~listener() = default;
  virtual task<std::unique_ptr<connection>> accept(time_point deadline = kNever) = 0;
  /// With the port that was really taken.
  virtual const std::string& address() const noexcept = 0;
  virtual void close() noexcept = 0;
};

class network {
 public:
  virtual ~network() = default;
  virtual task<std::unique_ptr<listener>> listen(std::string address, time_point deadline = kNever) = 0;
  virtual task<std::unique_ptr<connection>> connect(std::string address, time_point deadline = kNever) = 0;
  /// All addresses that a name stands for, for connect(): of "objects:80" perhaps {"10.0.0.1:80", "[fd00::1]:80"}. A network
  /// without names gives the address itself. Errors: unavailable: no such name, or nobody to ask.
  virtual task<std::vector<std::string>> resolve(std::string address, time_point deadline = kNever);
};

/// Reads until `to` is full. Errors: unavailable when the peer ends before that.
task<> read_exactly(connection& from, std::span<char> to, time_point deadline = kNever);

struct host_and_port {
  std::string host;
  std::uint16_t port = 0;
};
/// "127.0.0.1:80", "[::1]:80", "localhost:80". Errors: invalid_argument, saying what is wrong with the text.
result<host_and_port> parse_address(const std::string& text);

}  // namespace sluice::lib
