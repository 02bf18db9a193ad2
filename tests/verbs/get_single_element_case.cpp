// SPDX-License-Identifier: Apache-2.0
// get_single_element: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::get_single_element_case {
namespace {

using namespace test;
using int64 = std::int64_t;

// An input of exactly one element: the last of those that come, or another one.
const register_verb single_case("get_single_element", {.build =
                                                           [](const verb_plan& p) {
                                                             auto last = [](int64& seen, int64 x) { seen = x; };
                                                             return p.in[0] | take(1) | reduce(int64{0}, last) |
                                                                    get_single_element();
                                                           },
                                                       .expected =
                                                           [](const verb_lists& l) {
                                                             int64s in = first_of(l.in(), 1);
                                                             return in.empty() ? int64s{0} : in;
                                                           },
                                                       .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::get_single_element_case
