// SPDX-License-Identifier: Apache-2.0
// inspect: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::inspect_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb inspect_case("inspect",
                                 {.any_order = true,
                                  .passes_errors = true,
                                  .build = [](const verb_plan& p) { return p.in[0] | inspect([](const int64&) {}); },
                                  .expected = [](const verb_lists& l) { return l.in(); },
                                  .needs = [](const verb_use&, std::size_t k) { return k; }});

const register_verb failing_case("inspect failing",
                                 {.any_order = true,
                                  .meets_errors = true,
                                  .build =
                                      [](const verb_plan& p) {
                                        return p.in[0] | inspect([b = p.b](const int64& x) {
                                                 return is_bad(x, b) ? data_loss_error("a bad element") : status();
                                               });
                                      },
                                  .expected =
                                      [](const verb_lists& l) {
                                        int64s good;
                                        for (int64 x : l.in())
                                          if (!is_bad(x, l.b)) good.push_back(x);
                                        return good;
                                      },
                                  .resume = {.takes = 2}});

}  // namespace
}  // namespace sluice::lib::inspect_case
