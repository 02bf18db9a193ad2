// SPDX-License-Identifier: Apache-2.0
// sample_from_datasets: what it gives, by plain loops.

#include <cstdint>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/sample_from_datasets_model.hpp"

namespace sluice::lib::sample_from_datasets_case {
namespace {

using namespace test;
using int64 = std::int64_t;

std::vector<double> some_weights(std::size_t n, std::uint64_t b) {
  std::vector<double> w;
  for (std::size_t i = 0; i != n; ++i) w.push_back(static_cast<double>((b + i) % 3));
  if (n > 1 && w[0] + w[1] == 0) w[0] = 1;
  return w;
}

const register_verb sample_case("sample_from_datasets",
                                {.inputs = 2,
                                 .build =
                                     [](const verb_plan& p) {
                                       return sample_from_datasets(p.in, {.weights = some_weights(p.in.size(), p.b),
                                                                          .seed = 5,
                                                                          .stop_on_empty_dataset = p.b % 4 == 0});
                                     },
                                 .expected =
                                     [](const verb_lists& l) {
                                       std::vector<int64s> from;
                                       for (std::size_t k = 0; k != l.inputs(); ++k) from.push_back(l.in(k));
                                       return sampled(from, some_weights(from.size(), l.b), l.drawn_by_in_all_epochs(5),
                                                      l.b % 4 == 0);
                                     },
                                 .resume = {.takes = 0}});

auto three_of(const std::vector<dataset<int64>>& in) { return std::vector{in[0], in[1], in[0]}; }

const register_verb stepped_case(
    "sample_from_datasets by_step",
    {.inputs = 2,
     .build =
         [](const verb_plan& p) {
           return sample_from_datasets(
               three_of(p.in), {.weights_at = step_weights(stepped), .seed = 5, .stop_on_empty_dataset = p.b % 4 == 0});
         },
     .expected =
         [](const verb_lists& l) {
           return sampled_by_step({l.in(0), l.in(1), l.in(0)}, l.drawn_by_in_all_epochs(5), l.b % 4 == 0);
         },
     .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::sample_from_datasets_case
