// SPDX-License-Identifier: Apache-2.0
// Sinks for the bad elements that a run drops, and the table of these sinks. engine/quarantine/quarantine_file.hpp
// defines how an element is stored in a file.
//
//   gate.dropped(why)                        // .into: the sink of the stage's policy
//   run_context::met(e)                      // counts the element, and calls e.into->keep(e)
// Thread: only run_context::met calls a sink, under its lock. The code that opens stages uses the table.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/small_mutex.hpp"
#include "sluice/coro/dropped_errors.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

class site_record;  // runtime/sites/site_record.hpp

class quarantine_sink {
 public:
  virtual ~quarantine_sink() = default;
  /// Stores a bad element that is being counted. An error ends the run.
  virtual status keep(const dropped_error& e) = 0;
};

/// Builds the sinks of a run whose bad elements are stored elsewhere, as on a worker of a service.
class sink_maker {
 public:
  virtual ~sink_maker() = default;
  /// `path`: of the file that the plan or the run names; empty: none, and the sink receives the elements all the same.
  virtual std::unique_ptr<quarantine_sink> sink_of(const std::string& path) = 0;
};

/// The place of a run at a bad element, from which a later run can make the element again.
struct run_place {
  std::string plan;  ///< as text, without secrets; empty: it is too long
  std::uint64_t seed = 0;
  std::uint64_t delivered = 0;  ///< the elements that the consumer has received before the bad one
  std::string position;         ///< the bytes of a checkpoint; empty: the run has none
};

/// Watches a run that makes a bad element again. It is the sink of all stages.
class error_watch : public quarantine_sink {
 public:
  /// Returns a stream of the same elements that shows each of them to the watch. `site`: of the stage that makes them.
  virtual erased_stream watched(erased_stream made, const site_record& site) = 0;
  /// Called when a stage has met a bad element, before the error is dropped or ends the stage. Thread: any.
  virtual void failed(const site_record& site, const status& located) = 0;
};

/// One sink for each path. The sinks live as long as the run.
class quarantine_table {
 public:
  /// Returns the sink of `path`. The first call for a path builds the sink with `make`.
  template <class Make> quarantine_sink* of(const std::string& path, Make make) {
    small_lock lock(mutex_);
    std::unique_ptr<quarantine_sink>& sink = sinks_[path];
    if (!sink) sink = make();
    return sink.get();
  }
  bool empty() const {
    small_lock lock(mutex_);
    return sinks_.empty();
  }
  /// Sets the function that returns the place of the run at the error that is being counted. REQUIRES: nothing was
  /// requested from the run yet.
  void set_place(std::function<run_place()> place) { place_ = std::move(place); }
  run_place place() const { return place_ ? place_() : run_place(); }
  /// Sets the watch of the run. REQUIRES: no stage of the run is open.
  void set_watch(std::shared_ptr<error_watch> watch) { watch_ = std::move(watch); }
  /// Null: the run has none, as nearly all.
  error_watch* watch() const noexcept { return watch_.get(); }
  /// Has all sinks of the run built by `maker`. REQUIRES: no stage of the run is open.
  void set_maker(std::shared_ptr<sink_maker> maker) { maker_ = std::move(maker); }
  /// Null: sinks are files, as for nearly all runs.
  sink_maker* maker() const noexcept { return maker_.get(); }

 private:
  mutable small_mutex mutex_;
  std::map<std::string, std::unique_ptr<quarantine_sink>> sinks_ ABSL_GUARDED_BY(mutex_);
  std::function<run_place()> place_;
  std::shared_ptr<error_watch> watch_;
  std::shared_ptr<sink_maker> maker_;
};

}  // namespace sluice::lib
