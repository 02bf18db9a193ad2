// SPDX-License-Identifier: Apache-2.0
// The knobs of a run that a policy may set, with the limits that it keeps.
//
// A knob that the plan leaves to the engine is limited by what its operator permits, and by what the tuner tries. The
// limit of another knob is the number in the plan. A requested parallelism begins low and is raised on demand, so that
// a number that is far too high costs no memory.
// Thread: none.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "tuner/policy.hpp"

namespace sluice::lib {

class known_knobs {
 public:
  struct entry {
    std::uint64_t path = 0;
    std::string stage, knob;
    std::int64_t value = 0, began = 0, most = 0, floor = 1;
    bool is_requested = false;
    std::uint64_t blocked_until = 0;  ///< the number of a look
    std::string reason;
    std::vector<scaling_point> settings;  ///< what its stage has measured with different values
    /// The most elements in its channel, and by how much their number has fallen below that, since the last change. Elements
    /// of calls that are beyond a lowered limit do not count.
    double fill_most = 0, drawn = 0;
    double spread = 0;  ///< the largest deviation of its calls, by their time, since the start of the run
    void note_fill(double elements);
    void forget();
  };

  explicit known_knobs(unsigned workers) : workers_(workers) {}
  /// Adds knobs that are new. Returns settings for those that begin lower than the plan requests.
  std::vector<knob_setting> note(const std::vector<site_report>& sites);
  entry* find(std::uint64_t path, std::string_view knob);
  std::list<entry>& all() { return all_; }
  const std::list<entry>& all() const { return all_; }
  /// Enters the knobs into the figures of their stages.
  void enter(figures& f, std::uint64_t look) const;

 private:
  const unsigned workers_;
  std::list<entry> all_;
};

}  // namespace sluice::lib
