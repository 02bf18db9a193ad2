// SPDX-License-Identifier: Apache-2.0
// The workers that a dispatcher knows, and which reads it has placed on them. All of it is volatile: heartbeats rebuild
// it after a restart.
//
//   workers.heartbeat(request, now);
//   const worker_entry* w = workers.choose({.failed = "host:1"}, now);   // null: no worker fits now
//
// Order: of the workers that fit, those in the consumer's process and on its machine come first if it asked for them, then
//        the one with the fewest reads per slot. The worker that failed comes last.
#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "service/core/messages.hpp"
#include "sluice/coro/environment.hpp"

namespace sluice::lib {

struct worker_entry {
  std::string address, host, process;
  std::uint64_t incarnation = 0;
  std::vector<std::string> tags;
  std::uint32_t slots = 1;
  bool is_draining = false;
  time_point last_seen{};
  std::vector<compression_status> compression = {};
  std::uint64_t placed = 0;      ///< reads that are placed on it now, and run or were placed a moment ago
  std::uint64_t placements = 0;  ///< all reads that were ever placed on it
};

struct worker_wish {
  std::string pinned = {};  ///< only this address; empty: any
  const std::vector<std::string>* tags = nullptr;
  std::string target = {}, host = {}, process = {};  ///< of open_job_request
  std::string failed = {};
};

/// (iteration, split, consumer)
using read_id = std::tuple<std::string, std::uint64_t, std::string>;
struct placed_read {
  std::string worker;
  std::uint64_t attempt = 0;
  time_point since{};
  bool is_counted = true;  ///< in worker_entry::placed
};

class worker_table {
 public:
  explicit worker_table(duration lease) : lease_(lease) {}

  /// Returns true if the worker is new, was not alive, or has started again. Reads that were placed on it kStartTime ago or
  /// earlier, and that it does not name, are no load: their consumer has ended, or has not begun with them.
  bool heartbeat(const heartbeat_request& r, time_point now);
  void remove(const std::string& address) { workers_.erase(address); }
  const absl::btree_map<std::string, worker_entry>& all() const { return workers_; }
  const worker_entry* find(const std::string& address) const;
  bool is_alive(const worker_entry& w, time_point now) const { return now - w.last_seen <= lease_; }
  static bool fits(const worker_entry& w, const worker_wish& wish);
  const worker_entry* choose(const worker_wish& wish, time_point now) const;
  /// Says what is wished for, and what the workers have.
  std::string why_none(const worker_wish& wish, time_point now) const;

  void place(const read_id& read, const std::string& worker, std::uint64_t attempt, time_point now);
  void finish(const read_id& read);
  void finish_all(const std::string& iteration);
  /// Null: not placed by this dispatcher.
  const placed_read* placed(const read_id& read) const;
  /// Forgets workers that have been silent for this time.
  void forget(duration silent, time_point now);

 private:
  static constexpr duration kStartTime = std::chrono::seconds(5);
  void unload(const placed_read& read);
  void count_running(const heartbeat_request& r, worker_entry& w, time_point now);
  duration lease_;
  absl::btree_map<std::string, worker_entry> workers_;
  absl::btree_map<read_id, placed_read> reads_;
};

}  // namespace sluice::lib
