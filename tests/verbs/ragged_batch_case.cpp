// SPDX-License-Identifier: Apache-2.0
// ragged_batch: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/ragged_batch_model.hpp"

namespace sluice::lib::ragged_batch_case {
namespace {

using namespace test;
using int64 = std::int64_t;

int64 number_of_lists(const batched<int64s>& b) { return number_of_ragged(ragged_rows(b)); }

int64s ragged_numbers(const int64s& in, std::size_t rows) {
  int64s out;
  for (std::size_t first = 0; first < in.size(); first += rows) {
    std::size_t last = std::min(first + rows, in.size());
    int64 all = static_cast<int64>(last - first), split = 0;
    all = number_of(all, 0);
    for (std::size_t i = first; i != last; ++i) all = number_of(all, split += length_for(in[i]));
    for (std::size_t i = first; i != last; ++i)
      for (int64 v : list_of(in[i])) all = number_of(all, v);
    out.push_back(all);
  }
  return out;
}

int64s expected(const verb_lists& l) { return ragged_numbers(l.in(), static_cast<std::size_t>(l.a)); }
std::size_t needed(const verb_use& u, std::size_t k) { return k * static_cast<std::size_t>(u.a); }

const register_verb lists_case(
    "ragged_batch",
    {.build = [](const verb_plan& p) { return p.in[0] | map(list_of) | ragged_batch(p.a) | map(number_of_lists); },
     .expected = expected,
     .needs = needed,
     .resume = {.a = 5, .takes = 5}});

const register_verb tensors_case(
    "ragged_batch of tensors",
    {.build = [](const verb_plan& p) { return p.in[0] | map(tensor_of) | ragged_batch(p.a) | map(number_of_ragged); },
     .expected = expected,
     .needs = needed,
     .resume = {.a = 5, .takes = 5}});

}  // namespace
}  // namespace sluice::lib::ragged_batch_case
