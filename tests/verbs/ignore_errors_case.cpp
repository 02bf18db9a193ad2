// SPDX-License-Identifier: Apache-2.0
// ignore_errors: what it gives, by plain loops.

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::ignore_errors_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb ignore_errors_case("ignore_errors",
                                       {.build =
                                            [](const verb_plan& p) {
                                              return p.in[0] | map([b = p.b](int64 x) {
                                                       if (is_bad(x, b)) throw_status(data_loss_error("a bad element"));
                                                       return x;
                                                     }) |
                                                     ignore_errors();
                                            },
                                        .expected =
                                            [](const verb_lists& l) {
                                              int64s good;
                                              for (int64 x : l.in())
                                                if (!is_bad(x, l.b)) good.push_back(x);
                                              return good;
                                            },
                                        .resume = {.takes = 2}});

const register_verb counted_case("ignore_errors counted",
                                 {.build =
                                      [](const verb_plan& p) {
                                        return p.in[0] | map([b = p.b](int64 x) {
                                                 if (is_bad(x, b)) throw_status(data_loss_error("a bad element"));
                                                 return x;
                                               }) |
                                               ignore_errors([](const status&, std::uint64_t) {},
                                                             {.errors_share = 0.99, .share_after = 1'000'000});
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
}  // namespace sluice::lib::ignore_errors_case
