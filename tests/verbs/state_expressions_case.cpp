// SPDX-License-Identifier: Apache-2.0
// state_expressions: what it gives, by plain loops.

#include <cstdint>
#include <map>
#include <string>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::state_expressions_case {
namespace {

using namespace test;
using int64 = std::int64_t;

/// A state that knows all elements so far, and their order.
int64 mixed(int64 state, int64 x) { return (state * 31 + (x % 1000 + 1000) % 1000) % 1'000'003; }

const char* const kMixed = "(state * 31 + (it % 1000 + 1000) % 1000) % 1'000'003";
std::string start_of(int64 a) { return std::to_string(a % 1000); }

const register_verb scan_case(
    "scan by expression",
    {.passes_errors = true,
     .build = [](const verb_plan& p) { return p.in[0] | scan(expr<int64>(start_of(p.a)), expr(kMixed)); },
     .expected =
         [](const verb_lists& l) {
           int64s out;
           int64 state = l.a % 1000;
           for (int64 x : l.in()) out.push_back(state = mixed(state, x));
           return out;
         },
     .needs = [](const verb_use&, std::size_t k) { return k; }});

const register_verb scan_failing_case(
    "scan by expression failing",
    {.meets_errors = true,
     .build =
         [](const verb_plan& p) {
           return p.in[0] | scan(expr<int64>("0"),
                                 expr("let(x = (it % 1000 + 1000) % 1000, (state * 31 + 1000 / (x % 7)) % 1000)"));
         },
     .expected =
         [](const verb_lists& l) {
           int64s out;
           int64 state = 0;
           for (int64 y : l.in()) {
             int64 x = (y % 1000 + 1000) % 1000;
             if (x % 7 != 0) out.push_back(state = (state * 31 + 1000 / (x % 7)) % 1000);
           }
           return out;
         }});

const register_verb reduce_case(
    "reduce by expression",
    {.build = [](const verb_plan& p) { return p.in[0] | reduce(expr<int64>(start_of(p.a)), expr(kMixed)); },
     .expected =
         [](const verb_lists& l) {
           int64 state = l.a % 1000;
           for (int64 x : l.in()) state = mixed(state, x);
           return int64s{state};
         },
     .resume = {.takes = 0}});

const register_verb group_case("group_by_reducer by expression",
                               {.build =
                                    [](const verb_plan& p) {
                                      return p.in[0] | group_by_reducer(expr("(it % 1000 + 1000) % 5"),
                                                                        expr<int64>(start_of(p.a)), expr(kMixed));
                                    },
                                .expected =
                                    [](const verb_lists& l) {
                                      std::map<int64, int64> states;
                                      for (int64 x : l.in()) {
                                        auto at = states.try_emplace((x % 1000 + 1000) % 5, l.a % 1000).first;
                                        at->second = mixed(at->second, x);
                                      }
                                      int64s out;
                                      for (auto& [key, state] : states) out.push_back(state);
                                      return out;
                                    },
                                .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::state_expressions_case
