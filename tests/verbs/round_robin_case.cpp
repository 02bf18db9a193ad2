// SPDX-License-Identifier: Apache-2.0
// round_robin: what it gives, by plain loops.

#include <cstdint>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/round_robin_model.hpp"

namespace sluice::lib::round_robin_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb round_robin_case(
    "round_robin",
    {.inputs = 2,
     .build = [](const verb_plan& p) { return round_robin(p.in, {.stop_on_empty_dataset = p.b % 3 == 0}); },
     .expected =
         [](const verb_lists& l) {
           std::vector<int64s> from;
           for (std::size_t k = 0; k != l.inputs(); ++k) from.push_back(l.in(k));
           return by_turns(from, l.b % 3 == 0);
         },
     .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::round_robin_case
