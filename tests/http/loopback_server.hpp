// SPDX-License-Identifier: Apache-2.0
// A server on the loopback for tests: blocking sockets, and a thread for each connection. Nothing of it is the library's, so that
// the library is not tested against itself.
//
//   class echo final : public loopback_server {
//     void converse(wire& with) override { char c; while (with.read({&c, 1})) with.write({&c, 1}); }
//     …
//   };
//   echo e;                     // listens
//   connect to e.port() …
//   e.stop();                   // in the destructor of whatever derives from it
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

namespace sluice::lib::testing {

/// What a server does to a handshake of TLS.
enum class handshake : std::uint8_t { sound, by_the_byte, stalls, resets, ends };

/// One end of a connection, plain or TLS. Thread: one; but cut().
class wire {
 public:
  explicit wire(int fd);
  wire(const wire&) = delete;
  ~wire();

  /// Serves TLS from here on. False: there is no handshake, and the connection is over.
  bool secure(SSL_CTX* context, handshake how);
  /// Up to so many bytes; 0: the other side has ended, or the connection is lost.
  std::size_t read(std::span<char> to);
  /// All of them; false: the connection is lost.
  bool write(std::string_view bytes);
  /// The same, each byte in a packet of its own.
  bool write_by_the_byte(std::string_view bytes);
  /// Waits for so long, but not for a reader that has left, or says something more.
  bool is_left_within(std::chrono::milliseconds time);
  /// Loses the connection, as a machine does that crashes: the other side has received what was written before.
  void reset();
  /// Ends it, without a goodbye of TLS, and waits until the other side has ended it, too.
  void end();
  /// Says nothing more until the other side has had enough.
  void stall();
  void close();
  /// Any thread: whoever reads, writes or waits goes on, with a lost connection.
  void cut();

 private:
  friend struct wire_bio;
  std::size_t receive(std::span<char> to);
  bool send(std::string_view bytes);

  int fd_;
  std::mutex mutex_;
  bool is_closed_ = false;  ///< guarded by mutex_: a number that was closed may be somebody else's
  bool is_slow_ = false;
  SSL* tls_ = nullptr;
};

/// Of TLS, for a server with this certificate.
std::shared_ptr<SSL_CTX> server_context(const std::string& certificate, const std::string& key);

/// The other end of a wire; null: nobody listens there.
std::unique_ptr<wire> connect_to(int port);

class loopback_server {
 public:
  loopback_server();
  loopback_server(const loopback_server&) = delete;
  virtual ~loopback_server() = default;

  int port() const { return port_; }
  /// Returns true if all connections have ended before so much time has passed.
  bool wait_until_idle(std::chrono::seconds longest);

 protected:
  /// From here on connections are served: last in the constructor of what derives from it.
  void start();
  /// First in its destructor.
  void stop();
  /// On a thread of its own. The connection is closed when it returns.
  virtual void converse(wire& with) = 0;

 private:
  struct visitor {
    explicit visitor(int fd) : with(fd) {}
    wire with;
    std::thread thread;
    bool gone = false;  ///< guarded by the server's mutex; its thread then only ends
  };
  void accept_all();

  int door_;
  int port_ = 0;
  std::mutex mutex_;
  std::condition_variable left_;
  bool stops_ = false;         ///< guarded by mutex_
  std::list<visitor> within_;  ///< guarded by mutex_
  std::thread accepting_;
};

}  // namespace sluice::lib::testing
