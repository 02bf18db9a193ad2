// SPDX-License-Identifier: Apache-2.0
// pad_to_cardinality: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/pad_to_cardinality_model.hpp"

namespace sluice::lib::pad_to_cardinality_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb pad_case("pad_to_cardinality", {.build =
                                                        [](const verb_plan& p) {
                                                          const int64 more = static_cast<int64>(p.b % 4);
                                                          return p.in[0] | take(p.a) | pad_to_cardinality(p.a + more) |
                                                                 map(number_of_padded);
                                                        },
                                                    .expected =
                                                        [](const verb_lists& l) {
                                                          const auto a = static_cast<std::size_t>(l.a);
                                                          return padded(first_of(l.in(), a), a + l.b % 4);
                                                        },
                                                    .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::pad_to_cardinality_case
