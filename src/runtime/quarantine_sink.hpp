// SPDX-License-Identifier: Apache-2.0
// Where the bad elements of a run are kept that it drops, and the table of those places. What a kept element looks like in a file
// is engine/lowering/quarantine_file.hpp's.
//
//   gate.dropped(why)                        // .into: the sink of the stage's policy
//   run_context::met(e)                      // calls e.into->keep(e), where the element is counted
// Thread: sinks are called by run_context::met alone, under its lock; the table by whoever opens stages.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "sluice/coro/dropped_errors.hpp"

namespace sluice::lib {

class quarantine_sink {
 public:
  virtual ~quarantine_sink() = default;
  /// Keeps a bad element that is being counted. An error ends the run.
  virtual status keep(const dropped_error& e) = 0;
};

/// One sink for each path, for as long as the run lives.
class quarantine_table {
 public:
  /// The sink of `path`, which `make` makes when it is first asked for.
  template <class Make> quarantine_sink* of(const std::string& path, Make make) {
    std::lock_guard lock(mutex_);
    std::unique_ptr<quarantine_sink>& sink = sinks_[path];
    if (!sink) sink = make();
    return sink.get();
  }
  bool empty() const {
    std::lock_guard lock(mutex_);
    return sinks_.empty();
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<quarantine_sink>> sinks_;
};

}  // namespace sluice::lib
