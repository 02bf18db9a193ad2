// SPDX-License-Identifier: Apache-2.0
// The rate of a run for given values of its knobs: the least of its bounds, and the text of that bound.
// Thread: none.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tuner/allocation.hpp"

namespace sluice::lib {

/// Returns "20 ms", "1.25 s".
std::string time_text_of(double seconds);

struct rate_bound {
  enum class kind : std::uint8_t { none, consumer, task, parallel, workers };
  double rate = std::numeric_limits<double>::infinity();  ///< elements of the run per second
  kind of = kind::none;
  std::size_t stage = 0;
  /// The text for elements of which `visits` belong to one element of the run.
  std::string text(const figures& f, double visits) const;
};

class rate_model {
 public:
  rate_model(const figures& f, const budgets& b) : f_(f), b_(b) {}

  /// The rate if stage i has parallelism[i]; 0: it has no such knob, and one task.
  rate_bound rate(const std::vector<double>& parallelism) const;
  /// The present values, and the largest ones.
  std::vector<double> present() const;
  std::vector<double> largest() const;
  /// The time of one call of stage i, of `n` at the same time.
  double call_of(std::size_t i, double n) const;
  /// The time of the task that begins at stage i and ends at the next channels upstream, for one element of the run.
  double task_of(std::size_t i) const;
  /// The number of calls at the same time that make `rate` elements of the run per second, beside a utilization.
  double calls_for(std::size_t i, double rate) const;
  static const tunable_knob* knob(const stage_figures& s, std::string_view name);

 private:
  void enter_upstream(std::size_t i, const std::vector<double>& parallelism, rate_bound& least) const;
  std::size_t slowest_in_task(std::size_t i) const;
  const figures& f_;
  const budgets& b_;
};

}  // namespace sluice::lib
