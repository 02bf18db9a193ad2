// SPDX-License-Identifier: Apache-2.0
// skip: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::skip_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb skip_case(
    "skip",
    {.size = [](random_numbers& r) { return static_cast<int64>(r.below(13)) - 1; },  // -1: all
     .build = [](const verb_plan& p) { return p.in[0] | skip(p.a); },
     .expected =
         [](const verb_lists& l) { return l.a < 0 ? int64s() : without_first(l.in(), static_cast<std::size_t>(l.a)); },
     .needs = [](const verb_use&, std::size_t k) { return k; },
     .conforms_at = {{.a = 0}, {.a = 1}, {.a = 5}, {.a = 100}}});

}  // namespace
}  // namespace sluice::lib::skip_case
