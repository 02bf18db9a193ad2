// SPDX-License-Identifier: Apache-2.0
// scan: what it gives, by plain loops.

#include <cstdint>
#include <string>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::scan_case {
namespace {

using namespace test;
using int64 = std::int64_t;

const register_verb scan_case("scan", {.passes_errors = true,
                                       .build =
                                           [](const verb_plan& p) {
                                             return p.in[0] | scan(p.a, [](int64& sum, int64 x) {
                                                      return sum = number_of(sum, x);
                                                    });
                                           },
                                       .expected =
                                           [](const verb_lists& l) {
                                             int64s out;
                                             int64 sum = l.a;
                                             for (int64 x : l.in()) out.push_back(sum = number_of(sum, x));
                                             return out;
                                           },
                                       .needs = [](const verb_use&, std::size_t k) { return k; }});

const register_verb scan_failing_case("scan failing",
                                      {.meets_errors = true,
                                       .build =
                                           [](const verb_plan& p) {
                                             auto add_good = [b = p.b](std::string& seen, int64 x) {
                                               seen = std::to_string(number_of(std::atoll(seen.c_str()), x));
                                               if (is_bad(x, b)) throw_status(data_loss_error("a bad element"));
                                               return static_cast<int64>(std::atoll(seen.c_str()));
                                             };
                                             return p.in[0] | scan(add_good);
                                           },
                                       .expected =
                                           [](const verb_lists& l) {
                                             int64s out;
                                             int64 sum = 0;
                                             for (int64 x : l.in())
                                               if (!is_bad(x, l.b)) out.push_back(sum = number_of(sum, x));
                                             return out;
                                           }});

}  // namespace
}  // namespace sluice::lib::scan_case
