// SPDX-License-Identifier: Apache-2.0
// A way to choose the knobs of a run: it looks at the counters from time to time, and says which knobs to set.
// Thread: one call at a time.
#pragma once

#include <string>
#include <vector>

#include "sluice/tuner/tuning.hpp"
#include "tuner/allocation.hpp"
#include "tuner/figures.hpp"

namespace sluice::lib {

struct knob_setting {
  std::uint64_t path = 0;
  std::string knob;
  std::int64_t value = 0;
};

struct decision {
  std::vector<knob_setting> set;
  duration next{};  ///< until the next look
};

class tuning_policy {
 public:
  virtual ~tuning_policy() = default;
  virtual decision look(const observation& now) = 0;
  virtual tuning_report report() const = 0;
};

}  // namespace sluice::lib
