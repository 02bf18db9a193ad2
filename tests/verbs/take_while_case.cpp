// SPDX-License-Identifier: Apache-2.0
// take_while: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::take_while_case {
namespace {

using namespace test;
using int64 = std::int64_t;

/// Seven of eight go on.
bool continues(int64 x, std::uint64_t b) { return mix(static_cast<std::uint64_t>(x) ^ b) % 8 != 0; }

int64s in_front(const int64s& in, std::uint64_t b) {
  int64s out;
  for (int64 x : in) {
    if (!continues(x, b)) break;
    out.push_back(x);
  }
  return out;
}

bool fallible_goes_on(int64 x, std::uint64_t b) {
  if (is_bad(x, b)) throw_status(data_loss_error("a bad element"));
  return continues(x, b);
}

const register_verb take_while_case(
    "take_while",
    {.build = [](const verb_plan& p) { return p.in[0] | take_while([b = p.b](int64 x) { return continues(x, b); }); },
     .expected = [](const verb_lists& l) { return in_front(l.in(), l.b); },
     .needs = [](const verb_use&, std::size_t k) { return k + 1; },
     .resume = {.takes = 0}});

const register_verb take_while_failing_case(
    "take_while failing",
    {.meets_errors = true,
     .build =
         [](const verb_plan& p) { return p.in[0] | take_while([b = p.b](int64 x) { return fallible_goes_on(x, b); }); },
     .expected =
         [](const verb_lists& l) {
           int64s good;
           for (int64 x : l.in())
             if (!is_bad(x, l.b)) good.push_back(x);
           return in_front(good, l.b);
         },
     .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::take_while_case
