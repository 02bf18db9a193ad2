// SPDX-License-Identifier: Apache-2.0
// random: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::random_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb random_case(
    "random", {.inputs = 0,
               .build = [](const verb_plan& p) { return random({.seed = 3, .below = 1000}) | take(p.a); },
               .expected =
                   [](const verb_lists& l) {
                     int64s out;
                     const std::uint64_t seed = l.drawn_by_in_all_epochs(3);
                     for (std::uint64_t i = 0; i != static_cast<std::uint64_t>(l.a); ++i)
                       out.push_back(static_cast<int64>(draw(seed, i, 1000)));
                     return out;
                   }});

}  // namespace
}  // namespace sluice::lib::random_case
