// SPDX-License-Identifier: Apache-2.0
// batch: what it gives, by plain loops.

#include <algorithm>
#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::batch_case {
namespace {

using namespace test;
using int64 = std::int64_t;

int64 folded_rows(const batched<int64>& rows) {
  int64 all = rows.size();
  for (int64 x : rows.values()) all = number_of(all, x);
  return all;
}

int64s batches_of(const verb_lists& l, bool drop_remainder) {
  int64s in = l.in(), out;
  auto rows = static_cast<std::size_t>(l.a);
  for (std::size_t at = 0; at < in.size(); at += rows) {
    std::size_t n = std::min(rows, in.size() - at);
    if (n < rows && drop_remainder) break;
    auto all = static_cast<int64>(n);
    for (std::size_t i = 0; i != n; ++i) all = number_of(all, in[at + i]);
    out.push_back(all);
  }
  return out;
}

const register_verb batch_case(
    "batch",
    {.before_error = [](const verb_lists& l) { return batches_of(l, true); },  // rows collected by then are no batch
     .build =
         [](const verb_plan& p) { return p.in[0] | batch(p.a, {.drop_remainder = p.b % 2 == 1}) | map(folded_rows); },
     .expected = [](const verb_lists& l) { return batches_of(l, l.b % 2 == 1); },
     .needs = [](const verb_use& use, std::size_t k) { return k * static_cast<std::size_t>(use.a); },
     .resume = {.a = 3, .held = 6, .takes = 3},
     .conforms_at = {{.a = 1, .b = 0},
                     {.a = 2, .b = 0},
                     {.a = 3, .b = 0},
                     {.a = 64, .b = 0},
                     {.a = 2, .b = 1},
                     {.a = 3, .b = 1}}});

}  // namespace
}  // namespace sluice::lib::batch_case
