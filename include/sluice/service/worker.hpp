// SPDX-License-Identifier: Apache-2.0
// worker: runs the splits of plans for a dispatcher, and sends their elements to the consumers.
//
//   worker w(rt, "10.0.0.1:7700", {.listen = "0.0.0.0:0", .address = "10.0.0.7:%port%"});
//
// A worker keeps no state: one that dies is replaced by another one, and one that restarts serves again. It has the
// functions that its program has registered (plan/function.hpp), so a program with functions of its own starts workers of
// its own.
// Errors: the constructor and start() throw invalid_argument (not an address), unavailable (the address is in use),
//         failed_precondition: the program has registered no transport (io/open_transport.hpp). A dispatcher that cannot be
//         reached is no error: the worker registers when it is there.
// Thread: any. The constructor waits, so it must not be called in a coroutine; start() may.
// Owns:   tasks on the runtime's workers. The destructor stops them and does not wait; the runtime's destructor does.
// See:    docs/service.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sluice/coro/task.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

struct worker_config {
  std::string listen = "127.0.0.1:0";  ///< "host:port"; port 0: a free one
  /// The address by which consumers reach it, in which %port% is the actual port; "": the one that it listens on.
  std::string address = {};
  std::vector<std::string> tags = {};
  std::uint32_t slots = 0;  ///< splits that it runs at a time before others get more; 0: one for each core
  duration heartbeat = std::chrono::milliseconds(500);
};

class worker {
 public:
  worker(runtime& rt, const std::string& dispatcher, const worker_config& c = {});
  static task<worker> start(runtime& rt, std::string dispatcher, worker_config c = {});
  worker(worker&&) noexcept;
  worker& operator=(worker&&) noexcept;
  ~worker();

  /// The address by which consumers reach it.
  const std::string& address() const noexcept;
  /// The number of splits that it is running.
  std::size_t reads() const;
  /// Takes no new splits, reports NOT_SERVING to health checks of gRPC, waits for the splits that run, and closes. Their
  /// consumers continue elsewhere when `patience` is over; 0: without end.
  task<> drain(duration patience = {});
  /// Ends all reads, and waits until no task is left.
  task<> close();

 private:
  struct state;
  explicit worker(std::shared_ptr<state> s) noexcept;
  std::shared_ptr<state> state_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::worker;
using lib::worker_config;

}  // namespace sluice
