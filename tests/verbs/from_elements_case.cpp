// SPDX-License-Identifier: Apache-2.0
// from_elements: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::from_elements_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb from_elements_case("from_elements", {.inputs = 0,
                                                         .build =
                                                             [](const verb_plan& p) {
                                                               int64s elements;
                                                               for (int64 i = 0; i < p.a; ++i)
                                                                 elements.push_back(source_element(i, p.opened_for));
                                                               return from_elements(std::move(elements));
                                                             },
                                                         .expected = source_elements});

}  // namespace
}  // namespace sluice::lib::from_elements_case
