// SPDX-License-Identifier: Apache-2.0
// reduce: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::reduce_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb reduce_case("reduce", {.build =
                                               [](const verb_plan& p) {
                                                 return p.in[0] | reduce(p.a, [](int64& sum, int64 x) {
                                                          sum = number_of(sum, x);
                                                        });
                                               },
                                           .expected =
                                               [](const verb_lists& l) {
                                                 int64 sum = l.a;
                                                 for (int64 x : l.in()) sum = number_of(sum, x);
                                                 return int64s{sum};
                                               },
                                           .resume = {.takes = 0}});

const register_verb reduce_failing_case(
    "reduce failing", {.meets_errors = true,
                       .build =
                           [](const verb_plan& p) {
                             auto good = [b = p.b](int64 sum) -> result<int64> {
                               if (is_bad(sum, b)) return data_loss_error("a bad sum");
                               return sum;
                             };
                             return p.in[0] | reduce(p.a, [](int64& sum, int64 x) { sum = number_of(sum, x); }, good);
                           },
                       .expected =
                           [](const verb_lists& l) {
                             int64 sum = l.a;
                             for (int64 x : l.in()) sum = number_of(sum, x);
                             return is_bad(sum, l.b) ? int64s() : int64s{sum};
                           },
                       .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::reduce_case
