// SPDX-License-Identifier: Apache-2.0
// batch_timeout: what it gives, by plain loops.

#include <chrono>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::batch_timeout_case {
namespace {

using namespace test;
using std::chrono::milliseconds;

// Whenever batches end, their rows are the input's. Which errors of the input come before which row is a matter of timing.
const register_verb timed_case("batch with a timeout",
                               {.ordered = false,
                                .build =
                                    [](const verb_plan& p) {
                                      return p.in[0] |
                                             batch(p.a, {.timeout = std::chrono::microseconds(p.b % 300 + 1)}) |
                                             unbatch();
                                    },
                                .expected = [](const verb_lists& l) { return l.in(); },
                                .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::batch_timeout_case
