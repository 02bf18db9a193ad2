// SPDX-License-Identifier: Apache-2.0
// What ignore_errors does to policies is in pipeline/stage_policies_test.cpp.
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "support/verb_case.hpp"

namespace sluice::lib {
namespace {

using namespace test;
using int64 = std::int64_t;

int64s without_sevens(const int64s& in) {
  int64s good;
  for (int64 x : in)
    if (x % 7 != 3) good.push_back(x);
  return good;
}
int64 no_seven(int64 x) {
  if (x % 7 == 3) throw_status(data_loss_error("three is out"));
  return x;
}

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

}  // namespace

TEST_CASE("ignore_errors conforms") {
  auto all = [](const int64s& in) { return in; };
  conforms_for_elements([](const auto& in) { return in | ignore_errors(); }, {.expected = all, .needs = one_each});
  conforms({.stage = [](const auto& in) { return in | map(no_seven) | ignore_errors(); }, .expected = without_sevens});
  conforms({.stage = [](const auto& in) { return in | map(no_seven, {.parallelism = 3}) | ignore_errors(); },
            .expected = without_sevens});
}

TEST_CASE("a stage with a policy of its own conforms") {
  conforms({.stage = [](const auto& in) { return in | on_error(error_policy::skip, map(no_seven)); },
            .expected = without_sevens,
            .before_error = without_sevens});
  conforms({.stage =
                [](const auto& in) {
                  return in | on_error(error_policy::skip, map(no_seven, {.parallelism = 2})) |
                         map([](int64 x) { return x; });
                },
            .expected = without_sevens,
            .before_error = without_sevens});
}

TEST_CASE("ignore_errors prints as text, and is read again") {
  round_trips(*(range(5) | ignore_errors()).plan(), "range(5) | ignore_errors");
  round_trips(*(range(5) | ignore_errors({.errors_max = 3})).plan(), "range(5) | ignore_errors(errors_max=3)");
}

}  // namespace sluice::lib
