// SPDX-License-Identifier: Apache-2.0
// drop_while: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::drop_while_case {
namespace {

using namespace test;
using int64 = std::int64_t;

/// One of four goes on.
bool is_in_front(int64 x, std::uint64_t b) { return mix(static_cast<std::uint64_t>(x) ^ b) % 4 != 0; }

int64s from_there(const int64s& in, std::uint64_t b) {
  std::size_t first = 0;
  while (first != in.size() && is_in_front(in[first], b)) ++first;
  return without_first(in, first);
}

bool fallible_is_in_front(int64 x, std::uint64_t b) {
  if (is_bad(x, b)) throw_status(data_loss_error("a bad element"));
  return is_in_front(x, b);
}

const register_verb drop_while_case(
    "drop_while",
    {.passes_errors = true,
     .build = [](const verb_plan& p) { return p.in[0] | drop_while([b = p.b](int64 x) { return is_in_front(x, b); }); },
     .expected = [](const verb_lists& l) { return from_there(l.in(), l.b); }});

const register_verb drop_while_failing_case(
    "drop_while failing", {.meets_errors = true,
                           .build =
                               [](const verb_plan& p) {
                                 return p.in[0] | drop_while([b = p.b](int64 x) { return fallible_is_in_front(x, b); });
                               },
                           .expected =
                               [](const verb_lists& l) {
                                 // Behind the first that is not dropped the predicate is not called, so there are no bad elements.
                                 const int64s in = l.in();
                                 std::size_t first = 0;
                                 while (first != in.size() && (is_bad(in[first], l.b) || is_in_front(in[first], l.b)))
                                   ++first;
                                 return without_first(in, first);
                               }});

}  // namespace
}  // namespace sluice::lib::drop_while_case
