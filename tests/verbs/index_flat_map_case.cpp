// SPDX-License-Identifier: Apache-2.0
// index_flat_map: what it gives, by plain loops.

#include <cstdint>
#include <utility>

#include "base/index_permutation.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/index_flat_map_model.hpp"

namespace sluice::lib::index_flat_map_case {
namespace {

using namespace test;
using int64 = std::int64_t;
using place = std::pair<int64, int64>;

const register_verb flat_case("index_flat_map",
                              {.build =
                                   [](const verb_plan& p) {
                                     return p.in[0] |
                                            index_flat_map([b = p.b](int64 x) { return list_of(x, b); }, nowhere);
                                   },
                               .expected = [](const verb_lists& l) { return flat(l.in(), l.b); },
                               .resume = {.takes = 2}});

// As many inputs as there are, in lists of one length.
const register_verb by_index_case("index_flat_map by_index",
                                  {.inputs = 0,
                                   .build =
                                       [](const verb_plan& p) {
                                         const int64 each = static_cast<int64>(p.b % 4) + 1;
                                         auto repeated = [each, o = p.opened_for](int64 i) {
                                           return int64s(static_cast<std::size_t>(each), source_element(i, o));
                                         };
                                         auto where = [each](int64 i) { return place(i / each, i % each); };
                                         if (p.a == 0) return range(0);
                                         return range(p.a) |
                                                index_flat_map(repeated, where, {.cardinality = p.a * each});
                                       },
                                   .expected =
                                       [](const verb_lists& l) {
                                         int64s out;
                                         for (int64 x : source_elements(l)) out.insert(out.end(), l.b % 4 + 1, x);
                                         return out;
                                       }});

const register_verb flat_failing_case("index_flat_map failing",
                                      {.meets_errors = true,
                                       .build =
                                           [](const verb_plan& p) {
                                             auto some_fail = [b = p.b](int64 x) -> result<int64s> {
                                               if (is_bad(x, b)) return data_loss_error("a bad element");
                                               return list_of(x, b);
                                             };
                                             // Fewer come, as where many were bad.
                                             return p.in[0] |
                                                    index_flat_map(some_fail, nowhere, {.cardinality = 1'000'000});
                                           },
                                       .expected =
                                           [](const verb_lists& l) {
                                             int64s good = l.in();
                                             std::erase_if(good, [&](int64 x) { return is_bad(x, l.b); });
                                             return flat(good, l.b);
                                           }});

}  // namespace
}  // namespace sluice::lib::index_flat_map_case
