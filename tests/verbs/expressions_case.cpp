// SPDX-License-Identifier: Apache-2.0
// expressions: what it gives, by plain loops.

#include <cstdint>
#include <string>

#include "sluice/sluice.hpp"
#include "support/arithmetic.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::expressions_case {
namespace {

using namespace test;
using int64 = std::int64_t;

// --- For all suites. ---

/// 0 … 999, whatever x is.
int64 small(int64 x) { return ((x % 1000) + 1000) % 1000; }

const char* const kSmall = "(it % 1000 + 1000) % 1000";

const register_verb map_case("map of expression",
                             {.build =
                                  [](const verb_plan& p) {
                                    return p.in[0] | map(expr<int64>(std::string("let(x = ") + kSmall + ", x * x + " +
                                                                     std::to_string(p.b) + ")"));
                                  },
                              .expected =
                                  [](const verb_lists& l) {
                                    int64s out = l.in();
                                    for (int64& x : out) x = small(x) * small(x) + static_cast<int64>(l.b);
                                    return out;
                                  }});

const register_verb filter_case("filter by expression",
                                {.any_order = true,
                                 .passes_errors = true,
                                 .build =
                                     [](const verb_plan& p) {
                                       return p.in[0] |
                                              filter(expr(std::string(kSmall) + " % 3 != " + std::to_string(p.b % 3)));
                                     },
                                 .expected =
                                     [](const verb_lists& l) {
                                       int64s out;
                                       for (int64 x : l.in())
                                         if (small(x) % 3 != static_cast<int64>(l.b % 3)) out.push_back(x);
                                       return out;
                                     },
                                 .resume = {.takes = 2}});

const register_verb failing_map_case(
    "map of expression failing",
    {.meets_errors = true,
     .build = [](const verb_plan& p) { return p.in[0] | map(expr<int64>(std::string("1000 / (") + kSmall + " % 7)")); },
     .expected =
         [](const verb_lists& l) {
           int64s out;
           for (int64 x : l.in())
             if (small(x) % 7 != 0) out.push_back(1000 / (small(x) % 7));
           return out;
         }});

const register_verb failing_filter_case("filter by expression failing",
                                        {.meets_errors = true,
                                         .build =
                                             [](const verb_plan& p) {
                                               return p.in[0] |
                                                      filter(expr(std::string("1000 / (") + kSmall + " % 7) > 300"));
                                             },
                                         .expected =
                                             [](const verb_lists& l) {
                                               int64s out;
                                               for (int64 x : l.in())
                                                 if (small(x) % 7 != 0 && 1000 / (small(x) % 7) > 300) out.push_back(x);
                                               return out;
                                             }});

}  // namespace
}  // namespace sluice::lib::expressions_case
