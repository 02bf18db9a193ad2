// SPDX-License-Identifier: Apache-2.0
// flat_map: what it gives, by plain loops.

#include <cstdint>

#include "op/opened_elements.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::flat_map_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb flat_map_case("flat_map",
                                  {.inner = 1,
                                   .build = [](const verb_plan& p) { return p.in[0] | flat_map(p.inner[0]); },
                                   .expected =
                                       [](const verb_lists& l) {
                                         int64s out;
                                         std::size_t ordinal = 0;
                                         for (int64 x : l.in()) {
                                           const int64s all = l.inner(x, ordinal++);
                                           out.insert(out.end(), all.begin(), all.end());
                                           l.check_size(out.size());
                                         }
                                         return out;
                                       }});

const register_verb lists_case(
    "flat_map of lists", {.build = [](const verb_plan& p) { return p.in[0] | flat_map(expr<int64s>("[it, it + 7]")); },
                          .expected =
                              [](const verb_lists& l) {
                                int64s out;
                                for (int64 x : l.in()) {
                                  out.insert(out.end(), {x, static_cast<int64>(static_cast<std::uint64_t>(x) + 7)});
                                  l.check_size(out.size());
                                }
                                return out;
                              }});

}  // namespace
}  // namespace sluice::lib::flat_map_case
