// SPDX-License-Identifier: Apache-2.0
// from_tensor_slices: what it gives, by plain loops.

#include <utility>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::from_tensor_slices_case {
namespace {

using namespace test;

tensor numbers_of(const verb_use& use) {
  int64s all;
  for (std::int64_t i = 0; i < use.a; ++i) all.push_back(use.element(i));
  return tensor::of(all);
}

const register_verb slices_case(
    "from_tensor_slices", {.inputs = 0,
                           .build = [](const verb_plan& p) { return from_tensor_slices<std::int64_t>(numbers_of(p)); },
                           .expected = source_elements});

std::int64_t sum_of_parts(const std::pair<tensor, tensor>& parts) {
  return parts.first.values<std::int64_t>()[0] - parts.second.values<float>()[2] == 0
             ? parts.first.values<std::int64_t>()[0]
             : -1;
}

const register_verb nest_case("from_tensor_slices of pairs",
                              {.inputs = 0,
                               .build =
                                   [](const verb_plan& p) {
                                     tensor whole = numbers_of(p);
                                     tensor parts = tensor::zeros(dtype::float32, {p.a, 3});
                                     for (std::int64_t i = 0; i < p.a; ++i)
                                       parts.writable<float>()[static_cast<std::size_t>(3 * i + 2)] =
                                           static_cast<float>(p.element(i));
                                     return from_tensor_slices(std::pair(whole, parts)) | map(sum_of_parts);
                                   },
                               .expected = source_elements});

}  // namespace
}  // namespace sluice::lib::from_tensor_slices_case
