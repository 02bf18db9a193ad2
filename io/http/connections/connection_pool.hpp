// SPDX-License-Identifier: Apache-2.0
// The connections to one server: idle ones, and new ones, which alternate between all addresses of its name.
//
// Errors: unavailable: the name is unknown, or no address answers (the last one's error); of TLS: unauthenticated.
// Deadlines: the name, and each address, has the pool's connect timeout; the caller's deadline ends everything.
// Thread: any.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "io/http/connections/concurrency_limit.hpp"
#include "io/http/connections/idle_connections.hpp"
#include "io/http/messages/http_url.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/io/network.hpp"

namespace sluice::lib::detail {

/// The layer between a connection and HTTP: TLS.
class secure_layer {
 public:
  virtual ~secure_layer() = default;
  /// Performs the handshake with the server at the other end of `plain`, which must prove that it is `host`.
  virtual task<std::unique_ptr<connection>> over(std::unique_ptr<connection> plain, std::string host,
                                                 time_point deadline) = 0;
};

class connection_pool {
 public:
  /// `secure`: null for plain connections.
  connection_pool(network& net, clock& time, http_url to, duration connect_timeout,
                  std::shared_ptr<secure_layer> secure);
  ~connection_pool() { close(); }
  connection_pool(const connection_pool&) = delete;

  /// Returns a connection that has already served a request, or null if no such connection is idle.
  std::unique_ptr<connection> take_idle() { return idle_->take(); }
  task<std::unique_ptr<connection>> connect(time_point deadline);
  /// Returns a connection to the pool after it has served a request to its end.
  void put(std::unique_ptr<connection> c) { idle_->put(std::move(c)); }

  /// Closes the idle connections, and those that become idle later.
  void close() { idle_->close(); }

  /// Returns true if a connection to one of the addresses has been made.
  bool was_reached() const noexcept { return was_reached_.load(std::memory_order_relaxed); }
  std::uint64_t connects() const noexcept { return connects_.load(std::memory_order_relaxed); }
  std::size_t idle() const { return idle_->count(); }

  /// Returns the addresses to connect to. They are resolved again when they expire.
  task<std::vector<std::string>> addresses(time_point deadline);

 private:
  bool find_addresses(std::vector<std::string>& found) const;

  network& net_;
  clock& time_;
  const http_url to_;
  const duration connect_timeout_;
  const std::shared_ptr<secure_layer> secure_;
  const std::shared_ptr<idle_connections> idle_;
  std::atomic<bool> was_reached_{false};  // relaxed: no other memory depends on it
  // Relaxed: counters.
  std::atomic<std::uint64_t> connects_{0}, next_{0};
  concurrency_limit asking_;  ///< one request resolves the name, others wait
  mutable mutex mutex_;
  std::vector<std::string> addresses_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> silent_
      ABSL_GUARDED_BY(mutex_);  ///< those of them that did not answer, until they are asked for again
  time_point known_until_ ABSL_GUARDED_BY(mutex_){};
};

}  // namespace sluice::lib::detail
