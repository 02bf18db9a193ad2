// SPDX-License-Identifier: Apache-2.0
// Functions that plans in text may name: one of each form.
#pragma once

namespace sluice::lib::fuzz {

/// Registers inc, halved, is_even, length_of, paths_of, numbers_to, doubled and counted, once.
void register_plan_functions();

}  // namespace sluice::lib::fuzz
