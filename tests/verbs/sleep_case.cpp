// SPDX-License-Identifier: Apache-2.0
// sleep: what it gives, by plain loops.

#include <chrono>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::sleep_case {
namespace {

using namespace std::chrono_literals;
using namespace test;

const register_verb sleep_case(
    "sleep", {.any_order = true,
              .passes_errors = true,
              .build = [](const verb_plan& p) { return p.in[0] | sleep(std::chrono::microseconds(p.a)); },
              .expected = [](const verb_lists& l) { return l.in(); },
              .needs = [](const verb_use&, std::size_t k) { return k; }});

}  // namespace
}  // namespace sluice::lib::sleep_case
