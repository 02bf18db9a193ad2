// SPDX-License-Identifier: Apache-2.0
// window: what it gives, by plain loops.

#include <cstdint>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/window_model.hpp"

namespace sluice::lib::window_case {
namespace {

using namespace test;
using int64 = std::int64_t;

/// Windows that overlap, or touch, or have gaps between them and within.
shape shape_of(const verb_use& u) {
  auto b = static_cast<int64>(u.b);
  return {u.a, 1 + b % 12, 1 + b / 12 % 3, b / 36 % 2 == 1};
}

int64 number_of_window(const std::vector<int64>& w) {
  auto all = static_cast<int64>(w.size());
  for (int64 x : w) all = number_of(all, x);
  return all;
}

const register_verb window_case(
    "window", {.build = [](const verb_plan& p) { return p.in[0] | shape_of(p).stage() | map(number_of_window); },
               .expected =
                   [](const verb_lists& l) {
                     int64s out;
                     for (const int64s& w : windows_over(l.in(), shape_of(l))) out.push_back(number_of_window(w));
                     return out;
                   },
               .resume = {.a = 50, .b = 9, .held = 50, .takes = 10}});

const register_verb window_with_gaps_case(
    "window with gaps",
    {.build = [](const verb_plan& p) { return p.in[0] | window(p.a, {.shift = p.a + 5}) | map(number_of_window); },
     .expected =
         [](const verb_lists& l) {
           int64s out;
           for (const int64s& w : windows_over(l.in(), {l.a, l.a + 5})) out.push_back(number_of_window(w));
           return out;
         },
     .resume = {.a = 2, .held = 2, .takes = 7}});

}  // namespace
}  // namespace sluice::lib::window_case
