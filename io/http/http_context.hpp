// SPDX-License-Identifier: Apache-2.0
// The state that all requests of a runtime share.
#pragma once

#include <atomic>
#include <memory>

#include "io/http/retry_policy.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/io/http.hpp"

namespace sluice::lib::detail {

/// Counters since the start. Relaxed: no other memory depends on them.
struct http_counts {
  /// sent, including hedges and requests that met the end of an idle connection
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> retries{0};  ///< attempts after the first
  std::atomic<std::uint64_t> hedges{0}, hedges_won{0};
};

struct http_context {
  http_context(clock& t, network_maker make, http_options o, std::uint64_t s)
      : time(t), options(std::move(o)), make_network(std::move(make)), seed(s) {}

  network& net() {
    mutex_lock lock(mutex);
    if (!made) made = make_network();
    return *made;
  }
  /// Returns the seed for the waits of one range.
  std::uint64_t next_seed() noexcept { return seed.fetch_add(0x632be59bd9b4e019u, std::memory_order_relaxed); }

  clock& time;
  const http_options options;
  const network_maker make_network;
  retry_budget budget;
  http_counts counts;

 private:
  std::atomic<std::uint64_t> seed;
  lib::mutex mutex;
  std::shared_ptr<network> made ABSL_GUARDED_BY(mutex);
};

}  // namespace sluice::lib::detail
