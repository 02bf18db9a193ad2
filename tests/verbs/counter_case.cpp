// SPDX-License-Identifier: Apache-2.0
// counter: what it gives, by plain loops.

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::counter_case {
namespace {

using namespace test;

const register_verb counter_case(
    "counter",
    {.inputs = 0,
     .build = [](const verb_plan& p) { return counter({.start = source_element(0, p.opened_for)}) | take(p.a); },
     .expected = source_elements});

}  // namespace
}  // namespace sluice::lib::counter_case
