// SPDX-License-Identifier: Apache-2.0
// The elements of a split from a worker of this process: the stream of its plan, whose blocks are handed over as they are.
// The worker knows of the read, so that drain() waits for it, and close() ends it.
//
//   auto opening = worker_host::local_read::open(host, request);
//   result<std::unique_ptr<worker_host::local_read>> read = co_await opening;
//   auto some = co_await (*read)->elements().try_next_block({.skip = offset, .elements = 64});
//   (*read)->why_closed(some.why, stop)                             // not nullopt: the worker has ended the read
//
// Errors: of open(): those of a worker's stream "read". A stop of the consumer, or of the worker, ends the wait for elements
//         with `cancelled`.
// Thread: one call at a time.
// Owns:   a run, which the destructor stops, and a share of the worker.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "service/host/open_read.hpp"
#include "service/host/worker_host.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/stop_signal.hpp"

namespace sluice::lib {

class worker_host::local_read {
 public:
  static task<result<std::unique_ptr<local_read>>> open(std::shared_ptr<worker_host> host, read_request request);
  local_read(std::shared_ptr<worker_host> host, read_request request);
  local_read(const local_read&) = delete;
  ~local_read();

  /// Used by the consumer whose task has called open().
  erased_stream& elements() { return in_; }
  /// After the end: how many of the elements that the last request wanted to skip did not exist.
  std::uint64_t skip_left() const { return in_.skip_left(); }
  /// Returns true if the next element may wait for something outside.
  bool may_wait() const { return in_.may_wait(); }
  /// Why the worker has ended the read, whose elements are still wanted; nullopt: `why` is an error of the elements, or a
  /// stop of the consumer.
  std::optional<status> why_closed(const status& why, const stop_signal& consumer) const;
  /// After the end: what its stages have dropped.
  std::vector<dropped_elements> dropped() const {
    return mine_.dropped ? std::vector<dropped_elements>() : dropped_by(in_, before_);
  }
  /// The bad elements that the run has dropped, if the consumer stores them. Null: it does not.
  dropped_collector* collector() const { return mine_.dropped.get(); }
  /// Reports the ordinal of the next element to the worker.
  void moved(std::uint64_t offset) { mine_.moved(offset); }
  /// Ends the run, and waits for its tasks.
  task<> close();

 private:
  void end_hooks();

  const std::shared_ptr<worker_host> host_;
  open_read mine_;
  erased_stream in_;
  std::vector<dropped_elements> before_;
  detail::stop_hook worker_gone_, consumer_gone_;
};

}  // namespace sluice::lib
