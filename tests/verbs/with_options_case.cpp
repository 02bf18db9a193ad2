// SPDX-License-Identifier: Apache-2.0
// with_options: what it gives, by plain loops.

#include <chrono>
#include <cstdint>

#include "sluice/element/spec.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::with_options_case {
namespace {

using namespace std::chrono_literals;
using namespace test;
using int64 = std::int64_t;

const register_verb with_options_case("with_options", {.build =
                                                           [](const verb_plan& p) {
                                                             return p.in[0] | map([b = p.b](int64 x) {
                                                                      if (is_bad(x, b))
                                                                        throw_status(data_loss_error("a bad element"));
                                                                      return x;
                                                                    }) |
                                                                    with_options({.on_error = error_policy::skip});
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
}  // namespace sluice::lib::with_options_case
