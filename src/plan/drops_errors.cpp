// SPDX-License-Identifier: Apache-2.0
#include "plan/drops_errors.hpp"

#include <algorithm>

#include "plan/plan_parts.hpp"

namespace sluice::lib {

bool drops_errors(const node& plan) {
  if (plan.errors.on_error == error_policy::skip || plan.op->facts.sets_error_policy) return true;
  bool found = false;
  for_each_plan(plan, [&found](const node_ptr& inner) { found |= drops_errors(*inner); });
  return found ||
         std::any_of(plan.inputs.begin(), plan.inputs.end(), [](const node_ptr& in) { return drops_errors(*in); });
}

}  // namespace sluice::lib
