// SPDX-License-Identifier: Apache-2.0
// Records the elements of a run that makes a bad element again, and finds that element (pipeline/replay.hpp).
//
// Each stage of the run delivers its elements one by one through a stage of the watch, so that the last elements of the
// stages upstream are those from which a failing one was made. An element that passes a stage unchanged, as through a
// shuffle, is found by its text.
// Thread: any.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/quarantine_sink.hpp"
#include "runtime/sites/site_record.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/pipeline/replay.hpp"

namespace sluice::lib {

class replay_watch final : public error_watch, public std::enable_shared_from_this<replay_watch> {
 public:
  replay_watch(const stored_failure& bad, void (*before)(const replay_step&)) : bad_(bad), before_(before) {}

  erased_stream watched(erased_stream made, const site_record& site) override;
  void failed(const site_record& site, const status& located) override;
  /// Ends the run at the element.
  status keep(const dropped_error& e) override;

  /// Called with each element that leaves a stage.
  void left(const site_record& site, std::uint64_t ordinal, const block& one);
  /// The result so far. Steps of an element whose error has another text are those of the first such element.
  replay_report report() const;
  /// Returns false if the failing stage has not received the element yet, as far as its number is known.
  bool has_passed() const;
  /// Returns the first error because of which elements could not be read at all, such as a missing file; or ok.
  status lost() const;

 private:
  struct seen_element {
    std::uint64_t ordinal = 0, digest = 0;
    std::uint64_t when = 0;  ///< the number of elements that have left stages before
    std::string text;        ///< its beginning
  };
  struct failing {
    status why;
    std::vector<replay_step> steps;
  };
  /// Returns true if the failing stage, or one with its name, reads the elements of `site`.
  bool is_input(const site_record& site) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool is_place_of_bad(const status& why) const;
  std::vector<replay_step> steps_to(const site_record& site, const status& why) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Adds the steps of the stage `site` and of those upstream, which made the element `made`.
  void add_steps(const site_record& site, const seen_element& made, bool is_same, std::size_t depth,
                 std::vector<replay_step>& to) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Returns the element of the stage `site` from which `made` was made; null if none was seen before it.
  const seen_element* find_source(const site_record& site, const seen_element& made, bool is_forwarded) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const stored_failure bad_;
  void (*const before_)(const replay_step&);
  mutable mutex mutex_;
  std::map<const site_record*, std::deque<seen_element>> seen_ ABSL_GUARDED_BY(mutex_);
  std::set<const site_record*> readers_ ABSL_GUARDED_BY(mutex_);  ///< the stages with the name of the failing one
  std::vector<failing> candidates_ ABSL_GUARDED_BY(mutex_);
  bool has_passed_ ABSL_GUARDED_BY(mutex_) = false;
  std::uint64_t elements_ ABSL_GUARDED_BY(mutex_) = 0;
  status lost_ ABSL_GUARDED_BY(mutex_);
  replay_report report_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
