// SPDX-License-Identifier: Apache-2.0
// generate: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::generate_case {
namespace {

using namespace test;
using int64 = std::int64_t;

stream<int64> count_up(int64 n, int64 opened_for) {
  for (int64 i = 0; i < n; ++i) co_yield source_element(i, opened_for);
}

stream<int64> count_up_saved(saved<int64> made, int64 n, int64 opened_for) {
  while (*made < n) {
    int64 element = source_element(*made, opened_for);
    ++*made;
    co_yield element;
    made.commit();
  }
}

const register_verb generate_case(
    "generate",
    {.inputs = 0,
     .build = [](const verb_plan& p) { return generate([n = p.a, f = p.opened_for] { return count_up(n, f); }); },
     .expected = source_elements});

const register_verb generate_saved_case("generate saved", {.inputs = 0,
                                                           .build =
                                                               [](const verb_plan& p) {
                                                                 return generate([n = p.a, f = p.opened_for] {
                                                                   return count_up_saved(saved<int64>(), n, f);
                                                                 });
                                                               },
                                                           .expected = source_elements});

}  // namespace
}  // namespace sluice::lib::generate_case
