// SPDX-License-Identifier: Apache-2.0
// Operators that only have a plan side, and a generator of random plans of them.
#pragma once

#include <random>

#include "sluice/plan/function.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::test {

/// All of them; put in force by scoped_operators.
std::span<const op_info* const> fake_operators();

/// A function that only has a name and types.
struct fake_function : stage_function {
  fake_function(std::string name, int version, const element_type* in, const element_type* out);
};
/// The second form under one name.
struct fake_predicate : stage_function {
  fake_predicate(std::string name, int version, const element_type* in);
};
/// length: string → int64 (and as a predicate), next: int64 → int64. Once.
void register_fake_functions();

/// Up to `depth` stages below each other.
node_ptr random_plan(std::mt19937_64& random, int depth);

}  // namespace sluice::lib::test
