// SPDX-License-Identifier: Apache-2.0
// enumerate: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::enumerate_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb enumerate_case(
    "enumerate", {.passes_errors = true,
                  .build = [](const verb_plan& p) { return p.in[0] | enumerate({.start = p.a}) | map(number_of_pair); },
                  .expected =
                      [](const verb_lists& l) {
                        int64s out;
                        for (int64 x : l.in()) out.push_back(number_of(added(l.a, static_cast<int64>(out.size())), x));
                        return out;
                      },
                  .needs = [](const verb_use&, std::size_t k) { return k; },
                  .conforms_at = {{.a = 0}, {.a = 7}}});

}  // namespace
}  // namespace sluice::lib::enumerate_case
