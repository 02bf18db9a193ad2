// SPDX-License-Identifier: Apache-2.0
// Knobs that tests set while a run works.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sluice/runtime/site_table.hpp"

namespace sluice::lib::test {

struct knob_turn {
  bool was_set = false;      ///< false: the run has no knob, or `mistake`
  std::string mistake = {};  ///< a knob that is reported could not be set; empty: none
};

/// Sets one of the run's knobs, drawn, to a drawn value: in half of the calls to 1. `below(n)` draws a number below n.
template <class Below> knob_turn turn_a_knob(site_table& sites, Below below) {
  std::vector<std::pair<std::uint64_t, std::string>> knobs;
  for (const site_report& site : sites.report())
    for (const knob_report& knob : site.knobs) knobs.emplace_back(site.path, knob.name);
  if (knobs.empty()) return {};
  const auto& [path, name] = knobs[below(knobs.size())];
  const std::int64_t value = below(2) ? 1 : 1 + static_cast<std::int64_t>(below(12));
  if (sites.set_knob(path, name, value)) return {.was_set = true};
  return {.mistake = "a knob that is reported cannot be turned: " + name};
}

}  // namespace sluice::lib::test
