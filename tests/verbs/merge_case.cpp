// SPDX-License-Identifier: Apache-2.0
// merge: what it gives, by plain loops.

#include <chrono>
#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::merge_case {
namespace {

using namespace std::chrono_literals;
using namespace test;
using int64 = std::int64_t;

int64s of_all(const verb_lists& l) {
  int64s all;
  for (std::size_t k = 0; k != l.inputs(); ++k) {
    int64s one = l.in(k);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

const register_verb merge_case("merge", {.inputs = 2,
                                         .ordered = false,
                                         .build = [](const verb_plan& p) { return merge(p.in); },
                                         .expected = of_all,
                                         .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::merge_case
