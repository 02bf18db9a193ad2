// SPDX-License-Identifier: Apache-2.0
// Runs the plan of a row, and compares what it gives with what the row expects.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runners/row.hpp"
#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib::test {

/// How a run is consumed.
struct row_request {
  std::size_t elements_max = 0;
  bool save = false;  ///< saves the position before each request, of one element unless at_once is set
  checkpoint from = {};
  std::uint64_t seed = 1;
  std::uint64_t turns_knobs =
      0;                   ///< 0: never; else the seed that says before which requests which knob is set to which value
  duration tunes_every{};  ///< 0: the run has no tuner; else the shortest time between two of its looks
  std::uint32_t at_once = 0;  ///< elements of each request; 0: a few, in turn
  rule_choice rules = {};
  error_policy on_error = error_policy::stop;
  run_switch order_fingerprint = {};
};

/// What a run gave.
struct row_outcome {
  std::vector<std::string> elements;          ///< as JSON
  std::string end = "...";                    ///< "end", the error, or "..." if the run was left
  std::vector<checkpoint> places;             ///< before each request, and after the end or the error
  std::vector<std::size_t> delivered_before;  ///< delivered_before[i]: the number of elements delivered by places[i]
  std::vector<std::uint64_t> dropped_before;  ///< dropped_before[i]: the number of elements dropped by places[i]
  std::uint64_t dropped = 0;                  ///< the number of elements that the run dropped
  order_fingerprint order;                    ///< at the end
  std::vector<site_report> stages;            ///< after the run, when all have counted all that they delivered
};

row_outcome run_on(runtime& rt, const node_ptr& plan, const row_request& request);
/// On two workers in a simulation.
row_outcome run_in_simulation(std::uint64_t seed, const node_ptr& plan, const row_request& request);

/// The number of elements that a run of the row requests: one more than it expects, so that the end is seen; all if the row
/// expects a number of dropped ones.
std::size_t most_of(const row& r);
/// Parses the row's plan, text or JSON. Errors: throws as parse_plan().
node_ptr plan_of(const row& r);
/// A row `like` another plan, as a row of the elements and the end that the other plan yields; other rows as they are.
row with_elements(const row& r);
/// What is wrong with an outcome that begins with element number `from`; empty if nothing is.
std::string complaint(const row& r, const row_outcome& o, std::size_t from = 0);

/// Checks `r` for `plan`, which is the row's plan in some form. `run` is called for rows that expect elements or an error.
/// `after` is what the form has added to the end of the plan's text.
std::string difference(const row& r, const node_ptr& plan, const std::function<row_outcome(const node_ptr&)>& run,
                       const std::string& after = {});
/// Checks that the row's plan is refused as it says.
std::string difference_of_refusal(const row& r);

/// The same for rows of every kind: `form` makes the plan, and is not called for a plan that is refused.
std::string difference_of(const row& r, const std::function<row_outcome(const node_ptr&)>& run,
                          const std::function<node_ptr(const row&)>& form = plan_of);

}  // namespace sluice::lib::test
