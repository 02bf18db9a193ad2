// SPDX-License-Identifier: Apache-2.0
// Connections that wait for their next request, the most recently used first. Connections that have waited too long are
// closed. Servers end idle connections after some five seconds, and a request on such a connection must be sent twice.
//
// Owns:   the connections until they are taken, and a share of itself while its timer is armed.
// Thread: any.
#pragma once

#include <memory>
#include <vector>

#include "sluice/base/mutex.hpp"
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
  void drop_old() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void arm() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  clock& time_;
  mutable mutex mutex_;
  std::vector<entry> waiting_ ABSL_GUARDED_BY(mutex_);  ///< the oldest first
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<idle_connections> armed_ ABSL_GUARDED_BY(mutex_);  ///< itself, while the timer is armed
};

}  // namespace sluice::lib::detail
