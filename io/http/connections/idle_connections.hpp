// SPDX-License-Identifier: Apache-2.0
// Connections that wait for their next request, the most recently used first. Connections that have waited too long are
// closed. Servers end idle connections after some five seconds, and a request on such a connection must be sent twice.
//
// Owns:   the connections until they are taken, and a share of itself while its timer is armed.
// Thread: any.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "sluice/coro/environment.hpp"
#include "sluice/io/network.hpp"

namespace sluice::lib::detail {

class idle_connections final : timer_node, public std::enable_shared_from_this<idle_connections> {
 public:
  static constexpr duration kIdleMax = std::chrono::seconds(4);

  explicit idle_connections(clock& time) : time_(time) {}
  idle_connections(const idle_connections&) = delete;

  void put(std::unique_ptr<connection> c);
  /// Returns null if no connection is idle.
  std::unique_ptr<connection> take();
  std::size_t count() const;
  /// Closes all connections, and those returned later. Call it before clock and network are destroyed.
  void close();

 private:
  struct entry {
    std::unique_ptr<connection> wire;
    time_point since;
  };
  static void on_timer(timer_node& node) noexcept;
  /// REQUIRES: the mutex is locked.
  void drop_old();
  void arm();

  clock& time_;
  mutable std::mutex mutex_;
  std::vector<entry> waiting_;  ///< the oldest first
  bool closed_ = false;
  std::shared_ptr<idle_connections> armed_;  ///< itself, while the timer is armed
};

}  // namespace sluice::lib::detail
