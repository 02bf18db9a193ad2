// SPDX-License-Identifier: Apache-2.0
// The elements of a split from a worker of this process: the stream of its plan, whose blocks are handed over as they are.
// The worker knows of the read, so that drain() waits for it, and close() ends it.
//
//   auto opening = worker_host::local_read::open(host, request);
//   result<std::unique_ptr<worker_host::local_read>> read = co_await opening;
//   auto asking = (*read)->next({.skip = offset, .elements = 64});
//   erased_stream::attempt some = co_await asking;                  // an empty view: the end, or the error some.why
//
// Errors: of open(): those of a worker's stream "read". next() returns the status of the element; `cancelled` after a stop
//         of the consumer; if the worker has ended the read, its reason, and is_closed() is true.
// Thread: one call at a time.
// Owns:   a run, which the destructor stops, and a share of the worker.
#pragma once

#include <cstdint>
#include <memory>

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

  /// The elements are valid until the next call.
  task<erased_stream::attempt> next(demand d);
  /// After the end: how many of the elements that the last request wanted to skip did not exist.
  std::uint64_t skip_left() const { return in_.skip_left(); }
  /// The worker has ended the read: its elements are still wanted.
  bool is_closed() const { return is_closed_; }
  /// Reports the ordinal of the next element to the worker.
  void moved(std::uint64_t offset) { mine_.moved(offset); }
  /// Ends the run, and waits for its tasks.
  task<> close();

 private:
  const std::shared_ptr<worker_host> host_;
  open_read mine_;
  erased_stream in_;
  detail::stop_hook worker_gone_;
  bool is_closed_ = false;
};

}  // namespace sluice::lib
