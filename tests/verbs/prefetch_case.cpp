// SPDX-License-Identifier: Apache-2.0
// prefetch: what it gives, by plain loops.

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::prefetch_case {
namespace {

using namespace test;

const register_verb prefetch_case("prefetch",
                                  {.any_order = true,
                                   .has_knob = true,
                                   .only_works_ahead = true,
                                   .passes_errors = true,
                                   .build = [](const verb_plan& p) { return p.in[0] | prefetch(p.knob_or(p.a)); },
                                   .expected = [](const verb_lists& l) { return l.in(); },
                                   .resume = {.a = 16, .held = 32},
                                   .conforms_at = {{.a = 1}, {.a = 2}, {.a = 100}}});

const register_verb prefetch_auto_case(
    "prefetch auto",
    {.any_order = true,
     .has_knob = true,
     .only_works_ahead = true,
     .passes_errors = true,
     .build = [](const verb_plan& p) { return p.in[0] | prefetch(p.tuned ? knob(p.tuned) : autotune); },
     .expected = [](const verb_lists& l) { return l.in(); },
     .resume = {.held = 12 * 1024}});

}  // namespace
}  // namespace sluice::lib::prefetch_case
