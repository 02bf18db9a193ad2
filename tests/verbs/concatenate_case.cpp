// SPDX-License-Identifier: Apache-2.0
// concatenate: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/concatenate_model.hpp"

namespace sluice::lib::concatenate_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb concatenate_case("concatenate", {.inputs = 2,
                                                     .build =
                                                         [](const verb_plan& p) {
                                                           return p.in.size() == 3
                                                                      ? concatenate(p.in[0], p.in[1], p.in[2])
                                                                      : concatenate(p.in[0], p.in[1]);
                                                         },
                                                     .expected =
                                                         [](const verb_lists& l) {
                                                           int64s out = l.in(0);
                                                           for (std::size_t k = 1; k != l.inputs(); ++k)
                                                             out = joined(std::move(out), l.in(k));
                                                           return out;
                                                         },
                                                     .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::concatenate_case
