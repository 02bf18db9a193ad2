// SPDX-License-Identifier: Apache-2.0
// repeat: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/tree_of.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::repeat_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb repeat_case("repeat", {.size = [](random_numbers& r) { return static_cast<int64>(r.below(4)); },
                                           .build = [](const verb_plan& p) { return p.in[0] | repeat(p.a); },
                                           .expected =
                                               [](const verb_lists& l) {
                                                 int64s out;
                                                 for (std::uint64_t e = 0; e != static_cast<std::uint64_t>(l.a); ++e) {
                                                   int64s one = l.epoch(e);
                                                   out.insert(out.end(), one.begin(), one.end());
                                                   l.check_size(out.size());
                                                 }
                                                 return out;
                                               },
                                           .needs = [](const verb_use&, std::size_t k) { return k; },
                                           .resume = {.takes = 0},
                                           .conforms_at = {{.a = 0}, {.a = 1}, {.a = 3}}});

const register_verb repeat_forever_case("repeat forever",
                                        {.size = [](random_numbers& r) { return static_cast<int64>(r.below(40)); },
                                         .build = [](const verb_plan& p) { return p.in[0] | repeat() | take(p.a); },
                                         .expected =
                                             [](const verb_lists& l) {
                                               auto enough = static_cast<std::size_t>(l.a);
                                               int64s out;
                                               for (std::uint64_t e = 0; out.size() < enough; ++e) {
                                                 int64s one = l.epoch(e);
                                                 if (one.empty()) break;
                                                 out.insert(out.end(), one.begin(), one.end());
                                               }
                                               return first_of(std::move(out), enough);
                                             },
                                         .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::repeat_case
