// SPDX-License-Identifier: Apache-2.0
// filter: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::filter_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb filter_case("filter", {.any_order = true,
                                           .passes_errors = true,
                                           .build =
                                               [](const verb_plan& p) {
                                                 return p.in[0] | filter([b = p.b](int64 x) { return is_kept(x, b); });
                                               },
                                           .expected =
                                               [](const verb_lists& l) {
                                                 int64s out;
                                                 for (int64 x : l.in())
                                                   if (is_kept(x, l.b)) out.push_back(x);
                                                 return out;
                                               },
                                           .resume = {.takes = 2}});

bool fallible_is_kept(int64 x, std::uint64_t b) {
  if (is_bad(x, b)) throw_status(data_loss_error("a bad element"));
  return is_kept(x, b);
}

const register_verb filter_failing_case("filter failing", {.meets_errors = true,
                                                           .build =
                                                               [](const verb_plan& p) {
                                                                 return p.in[0] | filter([b = p.b](int64 x) {
                                                                          return fallible_is_kept(x, b);
                                                                        });
                                                               },
                                                           .expected =
                                                               [](const verb_lists& l) {
                                                                 int64s out;
                                                                 for (int64 x : l.in())
                                                                   if (!is_bad(x, l.b) && is_kept(x, l.b))
                                                                     out.push_back(x);
                                                                 return out;
                                                               }});

}  // namespace
}  // namespace sluice::lib::filter_case
