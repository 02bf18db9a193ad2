// SPDX-License-Identifier: Apache-2.0
// weighted_flat_map: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/weighted_flat_map_model.hpp"

namespace sluice::lib::weighted_flat_map_case {
namespace {

using namespace test;
using int64 = std::int64_t;

// Random plans do not know how long their inputs are: so this is a source, of three that do.
const register_verb weighted_case("weighted_flat_map",
                                  {.inputs = 0,
                                   .build =
                                       [](const verb_plan& p) {
                                         const int64 first = source_element(0, p.opened_for);
                                         return weighted_flat_map(
                                             {numbers_from(first, p.a), numbers_from(first, 2 * p.a),
                                              numbers_from(first, p.a) | prefetch(2)},
                                             {.weights = {1, 2, 0.5}});
                                       },
                                   .expected =
                                       [](const verb_lists& l) {
                                         int64s out;
                                         for (int64 n : {l.a, 2 * l.a, l.a / 2})
                                           for (int64 i = 0; i != n; ++i)
                                             out.push_back(source_element(i, l.opened_for));
                                         return out;
                                       }});

}  // namespace
}  // namespace sluice::lib::weighted_flat_map_case
