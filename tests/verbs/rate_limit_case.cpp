// SPDX-License-Identifier: Apache-2.0
// rate_limit: what it gives, by plain loops.

#include <chrono>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::rate_limit_case {
namespace {

using namespace std::chrono_literals;
using namespace test;

const register_verb rate_limit_case("rate_limit",
                                    {.any_order = true,
                                     .passes_errors = true,
                                     .build =
                                         [](const verb_plan& p) {
                                           if (p.b % 2)
                                             return p.in[0] | rate_limit({.bytes_per_second = 1e6, .burst = 8 * p.a});
                                           return p.in[0] | rate_limit({.elements_per_second = 1e5, .burst = p.a});
                                         },
                                     .expected = [](const verb_lists& l) { return l.in(); },
                                     .needs = [](const verb_use&, std::size_t k) { return k; }});

}  // namespace
}  // namespace sluice::lib::rate_limit_case
