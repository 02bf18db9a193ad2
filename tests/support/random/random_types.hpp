// SPDX-License-Identifier: Apache-2.0
// Elements of random types, and plans over them, as plan text. A seed names one on every platform.
//
//   random_numbers r(seed);
//   std::string e = random_typed_expression(r);      // "{a: [it], b: some(to_tensor([it, 2]))}": a value for each integer `it`
//   typed_plan p = random_typed_plan(r);             // "range(7) | map(…) | batch(2) | unbatch | shuffle(5, seed=3)"
//
// Types are nests of integers, reals, booleans, texts (of 1 and of 165 bytes), dense tensors of one and of varying shapes, ragged and
// sparse tensors, lists, optionals, tuples and structures, with two to five members at the top; rarely one of 100 KB.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sluice/plan/dataset.hpp"
#include "support/random/random_numbers.hpp"

namespace sluice::lib::test {

std::string random_typed_expression(random_numbers& r);

struct typed_plan {
  std::string text;
  std::set<std::string> verbs;  ///< that it has
};
typed_plan random_typed_plan(random_numbers& r);
/// All verbs that random_typed_plan() may use.
std::vector<std::string> typed_plan_verbs();

/// Appends stages, as text, to a plan of integers. They are compiled once, whatever the types of their elements.
/// Errors: throws those of parse_plan().
dataset<std::int64_t> with_stages(const dataset<std::int64_t>& in, const std::string& stages);

}  // namespace sluice::lib::test
