// SPDX-License-Identifier: Apache-2.0
// dispatcher: divides plans into splits, and gives each split to one consumer and a worker.
//
//   dispatcher d(rt);                                       // on 127.0.0.1, with a free port
//   worker w(rt, d.address());
//   auto ds = records | map(parse) | distribute(d.address());
//   …
//   co_await w.drain();
//   co_await d.close();
//
//   auto d = co_await dispatcher::start(rt, {.listen = "0.0.0.0:7700", .store = "sqlite:/var/lib/sluice/meta.db"});
//
// Store:  without one, the state is in memory, and a new dispatcher knows nothing of the jobs of the one before. With
//         "sqlite:PATH" a new dispatcher continues: its consumers get the splits that they had, and none twice. Of two
//         dispatchers over one store the later one works, and the other one stops: its calls fail, and why_stopped() has
//         the reason. A dispatcher that cannot listen leaves the store as it is.
// Errors: the constructor and start() throw invalid_argument (not an address, an unknown kind of store), unavailable (the
//         address is in use, the store cannot be opened), failed_precondition: the program has registered no transport
//         (io/open_transport.hpp), or no SQLite (io/sqlite_rows.hpp).
// Thread: any. The constructor waits, so it must not be called in a coroutine; start() may.
// Owns:   tasks on the runtime's workers. The destructor stops them and does not wait; the runtime's destructor does.
// See:    docs/service.md.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sluice/coro/task.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

struct dispatcher_config {
  std::string listen = "127.0.0.1:0";  ///< "host:port"; port 0: a free one
  std::string store = {};              ///< "": in memory; "sqlite:PATH"
  /// For mode=file, data and hint: the addresses of all workers, "host:port", or "host:%port%" for a worker of that host at
  /// any port; n such entries of one host stand for n of its workers.
  std::vector<std::string> workers = {};
  duration worker_lease = std::chrono::seconds(3);  ///< a worker that is silent for longer gets no splits
  /// The splits of a job that has ended are forgotten after this time; 0: never.
  duration keep_finished = std::chrono::minutes(5);
  /// Called once, when why_stopped() has an error. On a thread of the runtime; must not wait.
  std::function<void()> on_stopped = {};
};

class dispatcher {
 public:
  explicit dispatcher(runtime& rt, const dispatcher_config& c = {});
  static task<dispatcher> start(runtime& rt, dispatcher_config c = {});
  dispatcher(dispatcher&&) noexcept;
  dispatcher& operator=(dispatcher&&) noexcept;
  ~dispatcher();

  /// "127.0.0.1:40123"
  const std::string& address() const noexcept;
  /// Workers, jobs, and the splits in flight with their holders and ages, as JSON (docs/service.md has the members).
  std::string status_json() const;
  /// Ok until another dispatcher has taken over, or the store is damaged.
  status why_stopped() const;
  /// Ends all calls, and waits until no task is left.
  task<> close();

 private:
  struct state;
  explicit dispatcher(std::shared_ptr<state> s) noexcept;
  std::shared_ptr<state> state_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::dispatcher;
using lib::dispatcher_config;

}  // namespace sluice
