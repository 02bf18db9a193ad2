// SPDX-License-Identifier: Apache-2.0
// count_elements: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/count_elements_model.hpp"

namespace sluice::lib::count_elements_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb count_case("count_elements",
                               {.build = [](const verb_plan& p) { return p.in[0] | count_elements(); },
                                .expected = [](const verb_lists& l) { return counted(l.in()); },
                                .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::count_elements_case
