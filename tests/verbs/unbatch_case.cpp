// SPDX-License-Identifier: Apache-2.0
// unbatch: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::unbatch_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb unbatch_case(
    "unbatch",
    {.build = [](const verb_plan& p) { return p.in[0] | batch(p.a, {.drop_remainder = p.b % 2 == 1}) | unbatch(); },
     .expected =
         [](const verb_lists& l) {
           int64s in = l.in();
           if (l.b % 2 == 1) in.resize(in.size() - in.size() % static_cast<std::size_t>(l.a));
           return in;
         },
     .resume = {.a = 50, .held = 100}});

}  // namespace
}  // namespace sluice::lib::unbatch_case
