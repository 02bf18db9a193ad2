// SPDX-License-Identifier: Apache-2.0
// Sinks for the bad elements that a run drops, and the table of these sinks. engine/lowering/quarantine_file.hpp
// defines how an element is stored in a file.
//
//   gate.dropped(why)                        // .into: the sink of the stage's policy
//   run_context::met(e)                      // counts the element, and calls e.into->keep(e)
// Thread: only run_context::met calls a sink, under its lock. The code that opens stages uses the table.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "sluice/base/mutex.hpp"
#include "sluice/coro/dropped_errors.hpp"

namespace sluice::lib {

class quarantine_sink {
 public:
  virtual ~quarantine_sink() = default;
  /// Stores a bad element that is being counted. An error ends the run.
  virtual status keep(const dropped_error& e) = 0;
};

/// One sink for each path. The sinks live as long as the run.
class quarantine_table {
 public:
  /// Returns the sink of `path`. The first call for a path builds the sink with `make`.
  template <class Make> quarantine_sink* of(const std::string& path, Make make) {
    mutex_lock lock(mutex_);
    std::unique_ptr<quarantine_sink>& sink = sinks_[path];
    if (!sink) sink = make();
    return sink.get();
  }
  bool empty() const {
    mutex_lock lock(mutex_);
    return sinks_.empty();
  }

 private:
  mutable mutex mutex_;
  std::map<std::string, std::unique_ptr<quarantine_sink>> sinks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
