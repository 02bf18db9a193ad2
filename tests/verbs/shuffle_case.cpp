// SPDX-License-Identifier: Apache-2.0
// shuffle: what it gives, by plain loops.

#include <cstdint>

#include "pipeline/file_world.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/sluice.hpp"
#include "support/sequential.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/shuffle_model.hpp"

namespace sluice::lib::shuffle_case {
namespace {

using namespace test;
using int64 = std::int64_t;

int64 buffer_of_some_size(random_numbers& r) { return 1 + static_cast<int64>(r.below(r.below(2) ? 6 : 40)); }

const register_verb shuffle_case(
    "shuffle", {.size = buffer_of_some_size,
                .build = [](const verb_plan& p) { return p.in[0] | shuffle(p.a, {.seed = static_cast<int64>(p.b)}); },
                .expected = [](const verb_lists& l) { return shuffled(l.in(), l.a, l.drawn_by(l.b)); },
                .needs = [](const verb_use& use, std::size_t k) { return k + static_cast<std::size_t>(use.a); },
                .resume = {.a = 50, .b = 3, .held = 1'000},
                .conforms_at = {{.a = 1, .b = 7}, {.a = 2, .b = 7}, {.a = 10, .b = 7}, {.a = 1000, .b = 7}}});

const register_verb shuffle_alike_case(
    "shuffle alike",  // in every epoch
    {.size = buffer_of_some_size,
     .build =
         [](const verb_plan& p) {
           return p.in[0] | shuffle(p.a, {.seed = static_cast<int64>(p.b), .reshuffle_each_iteration = false});
         },
     .expected = [](const verb_lists& l) { return shuffled(l.in(), l.a, l.drawn_by_in_all_epochs(l.b)); },
     .resume = {.a = 50, .b = 3, .held = 1'000}});

}  // namespace
}  // namespace sluice::lib::shuffle_case
