// SPDX-License-Identifier: Apache-2.0
// range: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::range_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb range_case("range", {.inputs = 0,
                                         .build =
                                             [](const verb_plan& p) {
                                               int64 first = source_element(0, p.opened_for);
                                               return first ? range(added(first, p.a), {.start = first}) : range(p.a);
                                             },
                                         .expected = source_elements});

}  // namespace
}  // namespace sluice::lib::range_case
