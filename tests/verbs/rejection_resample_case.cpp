// SPDX-License-Identifier: Apache-2.0
// rejection_resample: what it gives, by plain loops.

#include <cstdint>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/rejection_resample_model.hpp"

namespace sluice::lib::rejection_resample_case {
namespace {

using namespace test;
using int64 = std::int64_t;
using doubles = std::vector<double>;

const register_verb resample_case(
    "rejection_resample",
    {.passes_errors = true,
     .build = [](const verb_plan& p) { return p.in[0] | resample_by(p.b) | map(number_of_pair); },
     .expected =
         [](const verb_lists& l) { return resampled(l.in(), some_target(l.b), some_initial(l.b), l.drawn_by(5)); },
     .resume = {.b = 12, .takes = 4}});

const register_verb resample_failing_case("rejection_resample failing",
                                          {.meets_errors = true,
                                           .build =
                                               [](const verb_plan& p) {
                                                 // Some calls fail, and some elements are of no class.
                                                 auto some_fail = [b = p.b](int64 x) -> result<int64> {
                                                   if (!is_bad(x, b)) return int64{0};
                                                   if (x % 2) return int64{1};
                                                   return data_loss_error("a bad element");
                                                 };
                                                 return p.in[0] |
                                                        rejection_resample(some_fail, {1}, {.initial_dist = {1}}) |
                                                        map(number_of_pair);
                                               },
                                           .expected =
                                               [](const verb_lists& l) {
                                                 int64s out;
                                                 for (int64 x : l.in())
                                                   if (!is_bad(x, l.b)) out.push_back(number_of(0, x));
                                                 return out;
                                               }});

}  // namespace
}  // namespace sluice::lib::rejection_resample_case
