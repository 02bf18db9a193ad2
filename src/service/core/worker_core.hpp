// SPDX-License-Identifier: Apache-2.0
// The decisions of a worker: registers and reports to the dispatcher, and knows which reads run. Without I/O and clock.
//
//   worker_core worker({.address = "host:1", .incarnation = i, .slots = 8});
//   worker.step({worker_event::woken{}}, now, actions);                    // heartbeat{…}, wake_at{…}
//   worker.step({worker_event::opened{7, request}}, now, actions);         // start{7} or refuse{7, why}
//
// Reads:  one read for each iteration, split and consumer. A new one cancels the one before, unless it is an earlier
//         attempt of the same process, or an earlier start of the consumer: that one is refused.
// Epochs: replies of an older dispatcher than the last one are ignored.
// Drain:  new reads are refused with `unavailable`, so that their consumers look for another worker. `drained` follows
//         when the last read has ended.
#pragma once

#include <absl/container/btree_map.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "service/core/messages.hpp"
#include "service/core/retry_delay.hpp"

namespace sluice::lib {

struct worker_options {
  std::string address;
  std::uint64_t incarnation = 0;
  std::string host = {}, process = {};
  std::vector<std::string> tags = {};
  std::uint32_t slots = 1;
  duration heartbeat = std::chrono::milliseconds(500);
  duration call_timeout = std::chrono::seconds(2);
};

struct worker_event {
  struct woken {};  ///< the first event, and the answer to wake_at
  struct heartbeat_replied {
    result<heartbeat_reply> reply;
  };
  struct opened {
    std::uint64_t stream;
    read_request request;
  };
  struct moved {
    std::uint64_t stream, offset;
  };
  /// The read has ended for any reason.
  struct ended {
    std::uint64_t stream;
  };
  struct drain {};
  std::variant<woken, heartbeat_replied, opened, moved, ended, drain> what;
};

struct worker_action {
  struct heartbeat {
    heartbeat_request request;
  };
  struct start {
    std::uint64_t stream;
  };
  struct refuse {
    std::uint64_t stream;
    status why;
  };
  /// The read must end with this status; `ended` follows.
  struct cancel {
    std::uint64_t stream;
    status why;
  };
  struct drained {};
  struct wake_at {
    time_point when;
  };
  std::variant<heartbeat, start, refuse, cancel, drained, wake_at> what;
};

class worker_core {
 public:
  explicit worker_core(worker_options o) : options_(std::move(o)) {}
  void step(worker_event event, time_point now, std::vector<worker_action>& out);
  std::uint64_t dispatcher_epoch() const { return epoch_; }
  std::size_t reads() const { return reads_.size(); }

 private:
  using actions = std::vector<worker_action>;
  using read_key = std::tuple<std::string, std::uint64_t, std::string>;
  struct read {
    std::uint64_t stream, incarnation, attempt, offset, start;
    time_point since;
  };
  void happened(worker_event::woken, time_point now, actions& out);
  void happened(const worker_event::heartbeat_replied& e, time_point now, actions& out);
  void happened(const worker_event::opened& e, time_point now, actions& out);
  void happened(const worker_event::moved& e, time_point now, actions& out);
  void happened(const worker_event::ended& e, time_point now, actions& out);
  void happened(worker_event::drain, time_point now, actions& out);
  void beat(time_point now, actions& out);

  worker_options options_;
  absl::btree_map<read_key, read> reads_;
  absl::btree_map<std::uint64_t, read_key> streams_;
  std::uint64_t epoch_ = 0;
  bool is_draining_ = false, is_drained_ = false, is_calling_ = false;
  time_point due_{}, asked_{};
};

}  // namespace sluice::lib
