// SPDX-License-Identifier: Apache-2.0
// Figures of a run as text, for rows of tests: the stages in the order of the plan, then the run itself.
//
//   "read own=20ms | decode call=100ms awaits p=8/64 ; workers=4 consumer=5ms"
//
// Of a stage: own, outside, pull, call, deviation, read (times); visits, running, limited, starved, reads, bytes, block, useful, sigma;
//   p=VALUE/MOST, r=VALUE/MOST (a number in the plan), elements=VALUE, reads_in_flight=VALUE; awaits, light, blocked,
//   opens (it opens the stages before it as inner plans), prefetch (it has a channel, and no calls).
// Of the run: workers, memory, consumer, wait, stall, cpu.
#pragma once

#include <string>

#include "tuner/allocation.hpp"

namespace sluice::lib::test {

struct run_text {
  figures measured;
  budgets limits;
};

/// Throws std::invalid_argument for a word that it does not know.
run_text read_run(const std::string& text);

}  // namespace sluice::lib::test
