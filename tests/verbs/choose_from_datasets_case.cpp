// SPDX-License-Identifier: Apache-2.0
// choose_from_datasets: what it gives, by plain loops.

#include <cstdint>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/choose_from_datasets_model.hpp"

namespace sluice::lib::choose_from_datasets_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb choose_case("choose_from_datasets",
                                {.inputs = 2,
                                 .build =
                                     [](const verb_plan& p) {
                                       std::vector<dataset<int64>> from(p.in.begin(), p.in.end() - 1);
                                       from.push_back(range(500 + p.a, {.start = 500}));
                                       auto selector =
                                           p.in.back() | map([n = from.size()](int64 x) { return choice(x, n); });
                                       return choose_from_datasets(from, selector,
                                                                   {.stop_on_empty_dataset = p.b % 2 == 0});
                                     },
                                 .expected =
                                     [](const verb_lists& l) {
                                       std::vector<int64s> from;
                                       for (std::size_t k = 0; k + 1 != l.inputs(); ++k) from.push_back(l.in(k));
                                       from.emplace_back();
                                       for (int64 x = 500; x != 500 + l.a; ++x) from.back().push_back(x);
                                       int64s selector;
                                       for (int64 x : l.in(l.inputs() - 1)) selector.push_back(choice(x, from.size()));
                                       return chosen(from, selector, l.b % 2 == 0);
                                     },
                                 .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::choose_from_datasets_case
