// SPDX-License-Identifier: Apache-2.0
// top: what it gives, by plain loops.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/arithmetic.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::top_case {
namespace {

using namespace test;
using int64 = std::int64_t;

/// The n largest by `rank`, equal ones in their order.
template <class Rank> int64s largest(const int64s& in, int64 n, Rank rank) {
  std::vector<std::size_t> order(in.size());
  for (std::size_t i = 0; i != order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto x = rank(in[a]), y = rank(in[b]);
    return x != y ? x > y : a < b;
  });
  int64s out;
  for (std::size_t i = 0; i != order.size() && i != static_cast<std::size_t>(n); ++i) out.push_back(in[order[i]]);
  return out;
}

const register_verb top_case(
    "top", {.build = [](const verb_plan& p) { return p.in[0] | top(p.a); },
            .expected = [](const verb_lists& l) { return largest(l.in(), l.a, [](int64 x) { return x; }); },
            .resume = {.takes = 0}});

const register_verb top_ranked_case(
    "top by rank", {.build = [](const verb_plan& p) { return p.in[0] | top(p.a, expr("(it % 4) * -0.5")); },
                    .expected =
                        [](const verb_lists& l) {
                          return largest(l.in(), l.a, [](int64 x) { return static_cast<double>(x % 4) * -0.5; });
                        },
                    .resume = {.takes = 0}});

const register_verb top_failing_case("top failing", {.meets_errors = true,
                                                     .build =
                                                         [](const verb_plan& p) {
                                                           return p.in[0] | top(p.a, [b = p.b](int64 x) {
                                                                    if (is_bad(x, b))
                                                                      throw_status(data_loss_error("no rank"));
                                                                    return static_cast<double>(x % 8);
                                                                  });
                                                         },
                                                     .expected =
                                                         [](const verb_lists& l) {
                                                           int64s in;
                                                           for (int64 x : l.in())
                                                             if (!is_bad(x, l.b)) in.push_back(x);
                                                           return largest(in, l.a, [](int64 x) { return x % 8; });
                                                         },
                                                     .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::top_case
