// SPDX-License-Identifier: Apache-2.0
// sparse_batch: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/sparse_batch_model.hpp"

namespace sluice::lib::sparse_batch_case {
namespace {

using namespace test;
using int64 = std::int64_t;

int64s sparse_numbers(const int64s& in, std::size_t rows) {
  int64s out;
  for (std::size_t first = 0; first < in.size(); first += rows) {
    const std::size_t last = std::min(first + rows, in.size());
    std::size_t longest = 0;
    int64s indices, values;
    for (std::size_t i = first; i != last; ++i) {
      longest = std::max(longest, sparse_length(in[i]));
      for (std::size_t k = 0; k != sparse_length(in[i]); ++k) {
        indices.insert(indices.end(), {static_cast<int64>(i - first), static_cast<int64>(k)});
        values.push_back(in[i]);
      }
    }
    int64 all = number_of(static_cast<int64>(last - first), static_cast<int64>(longest));
    for (int64 x : indices) all = number_of(all, x);
    for (int64 x : values) all = number_of(all, x);
    out.push_back(all);
  }
  return out;
}

const register_verb sparse_case(
    "sparse_batch",
    {.build =
         [](const verb_plan& p) {
           return p.in[0] | map(sparse_list) | sparse_batch(p.a, {-1}) | map(number_of_sparse);
         },
     .expected = [](const verb_lists& l) { return sparse_numbers(l.in(), static_cast<std::size_t>(l.a)); },
     .needs = [](const verb_use& u, std::size_t k) { return k * static_cast<std::size_t>(u.a); },
     .resume = {.a = 5, .takes = 5}});

}  // namespace
}  // namespace sluice::lib::sparse_batch_case
