// SPDX-License-Identifier: Apache-2.0
// rebatch: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/rebatch_model.hpp"

namespace sluice::lib::rebatch_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb rebatch_case(
    "rebatch", {.build =
                    [](const verb_plan& p) {
                      return p.in[0] | batch(static_cast<int64>(1 + p.b % 7)) |
                             rebatch({p.a, static_cast<int64>(1 + p.b % 3)}, {.drop_remainder = p.b % 2 == 1}) |
                             map(folded);
                    },
                .expected =
                    [](const verb_lists& l) {
                      return refolded(l.in(), {static_cast<std::size_t>(l.a), static_cast<std::size_t>(1 + l.b % 3)},
                                      l.b % 2 == 1);
                    },
                .resume = {.a = 50, .b = 6, .held = 120, .takes = 50}});

}  // namespace
}  // namespace sluice::lib::rebatch_case
