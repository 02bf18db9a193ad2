// SPDX-License-Identifier: Apache-2.0
// zip: what it gives, by plain loops.

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::zip_case {
namespace {

using namespace test;
using int64 = std::int64_t;

dataset<int64> zipped(const verb_plan& p) {
  auto three = [](const std::tuple<int64, int64, int64>& t) {
    return number_of(number_of(std::get<0>(t), std::get<1>(t)), std::get<2>(t));
  };
  if (p.in.size() == 3) return zip(p.in[0], p.in[1], p.in[2]) | map(three);
  return zip(p.in[0], p.in[1]) | map(number_of_pair);
}

const register_verb zip_case("zip", {.inputs = 2, .build = zipped, .expected = [](const verb_lists& l) {
                                       int64s out = l.in(0);
                                       for (std::size_t k = 1; k != l.inputs(); ++k) {
                                         int64s next = l.in(k);
                                         out.resize(std::min(out.size(), next.size()));
                                         for (std::size_t i = 0; i != out.size(); ++i)
                                           out[i] = number_of(out[i], next[i]);
                                       }
                                       return out;
                                     }});

}  // namespace
}  // namespace sluice::lib::zip_case
