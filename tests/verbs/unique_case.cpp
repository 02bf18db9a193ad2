// SPDX-License-Identifier: Apache-2.0
// unique: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/unique_model.hpp"

namespace sluice::lib::unique_case {
namespace {

using namespace test;
using int64 = std::int64_t;

// Of elements that are often equal: of each its remainder.
const register_verb unique_case(
    "unique",
    {.build = [](const verb_plan& p) { return p.in[0] | map([a = p.a](int64 x) { return x % (a + 2); }) | unique(); },
     .expected =
         [](const verb_lists& l) {
           int64s in = l.in();
           for (int64& x : in) x %= l.a + 2;
           return first_of_each(in);
         },
     .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::unique_case
