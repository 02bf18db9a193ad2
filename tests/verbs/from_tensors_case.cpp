// SPDX-License-Identifier: Apache-2.0
// from_tensors: what it gives, by plain loops.

#include <utility>
#include <vector>

#include "engine/data/tensor_literal.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::from_tensors_case {
namespace {

using namespace test;

/// One element that has all numbers. (A repeat in here would change what is drawn within another one.)
dataset<std::int64_t> listed(const verb_plan& p) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i != p.a; ++i) numbers.push_back(i);
  return from_tensors(std::pair(p.opened_for, tensor::of(numbers))) |
         flat_map([](const std::pair<std::int64_t, tensor>& x) {
           std::vector<std::int64_t> elements;
           for (std::int64_t i : x.second.values<std::int64_t>()) elements.push_back(source_element(i, x.first));
           return from_elements(elements);
         });
}

const register_verb from_tensors_case(
    "from_tensors", {.inputs = 0, .build = listed, .expected = source_elements, .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::from_tensors_case
