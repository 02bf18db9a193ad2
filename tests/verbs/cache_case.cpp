// SPDX-License-Identifier: Apache-2.0
// cache: what it gives, by plain loops.

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::cache_case {
namespace {

using namespace test;

const register_verb cache_case("cache", {.passes_errors = true,
                                         .build = [](const verb_plan& p) { return p.in[0] | cache(); },
                                         .expected = [](const verb_lists& l) { return l.first_epoch(); },
                                         .needs = [](const verb_use&, std::size_t k) { return k; }});

/// Two streams of one cache, of which the second reads what the first has left.
const register_verb cache_twice_case("cache twice", {.build =
                                                         [](const verb_plan& p) {
                                                           auto kept = p.in[0] | cache();
                                                           return concatenate(kept, kept);
                                                         },
                                                     .expected =
                                                         [](const verb_lists& l) {
                                                           int64s out = l.first_epoch(true);
                                                           l.check_size(2 * out.size());
                                                           const int64s again = out;
                                                           out.insert(out.end(), again.begin(), again.end());
                                                           return out;
                                                         },
                                                     .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::cache_case
