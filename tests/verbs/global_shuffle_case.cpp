// SPDX-License-Identifier: Apache-2.0
// global_shuffle: what it gives, by plain loops.

#include <cstdint>

#include "base/index_permutation.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/global_shuffle_model.hpp"

namespace sluice::lib::global_shuffle_case {
namespace {

using namespace test;
using int64 = std::int64_t;

/// Random plans do not know how long their inputs are, and have stages that cannot seek: so this is a source.
dataset<int64> seekable(const verb_plan& p) {
  return range(p.a) | map([o = p.opened_for](int64 i) { return source_element(i, o); }, {.parallelism = p.b % 3 + 1}) |
         prefetch(2);
}

const register_verb global_shuffle_case(
    "global_shuffle",
    {.inputs = 0,
     .build = [](const verb_plan& p) { return seekable(p) | global_shuffle({.seed = static_cast<int64>(p.b)}); },
     .expected = [](const verb_lists& l) { return in_order(source_elements(l), l.drawn_by(l.b)); }});

const register_verb same_each_epoch_case(
    "global_shuffle same",
    {.inputs = 0,
     .build =
         [](const verb_plan& p) {
           return seekable(p) | global_shuffle({.seed = static_cast<int64>(p.b), .reshuffle_each_iteration = false});
         },
     .expected = [](const verb_lists& l) { return in_order(source_elements(l), l.drawn_by_in_all_epochs(l.b)); }});

const register_verb global_shuffle_failing_case("global_shuffle failing",
                                                {.inputs = 0,
                                                 .meets_errors = true,
                                                 .build =
                                                     [](const verb_plan& p) {
                                                       auto some_fail = [b = p.b](int64 x) {
                                                         if (is_bad(x, b))
                                                           throw_status(data_loss_error("a bad element"));
                                                         return x;
                                                       };
                                                       return seekable(p) | map(some_fail) |
                                                              global_shuffle({.seed = 3});
                                                     },
                                                 .expected =
                                                     [](const verb_lists& l) {
                                                       int64s out = in_order(source_elements(l), l.drawn_by(3));
                                                       std::erase_if(out, [&](int64 x) { return is_bad(x, l.b); });
                                                       return out;
                                                     }});

const register_verb picked_case("global_shuffle of a range",
                                {.inputs = 0,
                                 .build =
                                     [](const verb_plan& p) {
                                       return range(3 * p.a, {.start = 1, .step = 3}) |
                                              global_shuffle({.seed = static_cast<int64>(p.b)});
                                     },
                                 .expected =
                                     [](const verb_lists& l) {
                                       int64s in = numbers_up_to(l.a);
                                       for (int64& x : in) x = 3 * x + 1;
                                       return in_order(in, l.drawn_by(l.b));
                                     }});

}  // namespace
}  // namespace sluice::lib::global_shuffle_case
