// SPDX-License-Identifier: Apache-2.0
// The events that a host passes to a dispatcher, and the actions that the dispatcher asks of the host.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "service/core/messages.hpp"
#include "sluice/base/result.hpp"
#include "sluice/io/meta_store.hpp"

namespace sluice::lib {

/// An event of a dispatcher.
struct dispatcher_event {
  /// The first event, and the answer to each wake_at.
  struct woken {};
  struct call {
    std::uint64_t id = 0;  ///< chosen by the host, not used twice
    service_request request;
  };
  /// Nobody waits for the call any more.
  struct call_dropped {
    std::uint64_t id = 0;
  };
  /// Answers list_store.
  struct store_listed {
    std::string prefix;
    status why;
    std::vector<meta_entry> entries;  ///< in the order of their keys
  };
  /// Answers commit.
  struct commit_ended {
    std::uint64_t id = 0;
    status why;                  ///< not ok: it may have happened, or may still happen
    std::uint64_t revision = 0;  ///< of the store; 0: a guard did not hold
  };
  /// Answers list_splits.
  struct splits_listed {
    std::string iteration;
    std::uint64_t round = 0;
    status why;
    std::vector<std::string> payloads;
    bool is_last = false;     ///< no round follows
    bool is_endless = false;  ///< the plan repeats without end
  };
  std::variant<woken, call, call_dropped, store_listed, commit_ended, splits_listed> what;
};

/// Something that the host of a dispatcher must do. Each is answered by at most one event.
struct dispatcher_action {
  struct answer {
    std::uint64_t call = 0;
    result<service_reply> reply;
  };
  struct list_store {
    std::string prefix;
  };
  struct commit {
    std::uint64_t id = 0;
    std::vector<meta_guard> guards;
    std::vector<meta_write> writes;
  };
  struct list_splits {
    std::string iteration;
    dataset_info info;  ///< with the seed and the epoch of the iteration
    std::uint32_t stream = 0;
    std::uint64_t round = 0;        ///< of split_plan::splits()
    std::uint64_t first_round = 0;  ///< of the iteration
    std::optional<std::uint64_t> rounds;
  };
  /// `woken` is expected at this time, in place of any earlier request. An early or second `woken` does no harm.
  struct wake_at {
    time_point when;
  };
  /// This dispatcher can do nothing any more: another one has taken over, or the store is damaged.
  struct stop {
    status why;
  };
  std::variant<answer, list_store, commit, list_splits, wake_at, stop> what;
};

}  // namespace sluice::lib
