// SPDX-License-Identifier: Apache-2.0
// What a plan has to give, by loops over vectors: no coroutines, no blocks, no positions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "support/random/random_plan.hpp"

namespace sluice::lib::test {

/// The elements of a plan; for a sloppy one, in an order that it may have. None where some stage of it gives more than
/// `elements_max`.
std::optional<std::vector<std::int64_t>> evaluate(const plan_description& p, std::size_t elements_max = 2000);

}  // namespace sluice::lib::test
