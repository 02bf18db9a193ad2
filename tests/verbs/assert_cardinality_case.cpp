// SPDX-License-Identifier: Apache-2.0
// assert_cardinality: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::assert_cardinality_case {
namespace {

using namespace test;
using int64 = std::int64_t;

// Random plans know no number; the one that is right however many there are is that of a plan which never ends, cut behind it. What is
// drawn depends on the place among a concatenation's inputs: so those are inputs here, too.
const register_verb assert_cardinality_case("assert_cardinality",
                                            {.inputs = 2,
                                             .build =
                                                 [](const verb_plan& p) {
                                                   auto all = p.in.size() == 3
                                                                  ? concatenate(p.in[0], p.in[1], p.in[2], counter())
                                                                  : concatenate(p.in[0], p.in[1], counter());
                                                   return all | assert_cardinality(-1) | take(p.a);
                                                 },
                                             .expected =
                                                 [](const verb_lists& l) {
                                                   int64s out;
                                                   for (std::size_t k = 0; k != l.inputs(); ++k) {
                                                     int64s in = l.in(k);
                                                     out.insert(out.end(), in.begin(), in.end());
                                                   }
                                                   for (int64 x = 0; out.size() < static_cast<std::size_t>(l.a); ++x)
                                                     out.push_back(x);
                                                   return first_of(out, static_cast<std::size_t>(l.a));
                                                 },
                                             .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::assert_cardinality_case
