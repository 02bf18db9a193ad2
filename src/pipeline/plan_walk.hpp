// SPDX-License-Identifier: Apache-2.0
// Facts about all nodes of a plan that each of its runs needs. They are computed once for each plan (plan_memo).
// Thread: any.
#pragma once

#include <cstddef>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

struct plan_walk {
  /// The number of nodes, including those of inner plans, each counted once; 0 for few nodes.
  std::size_t nodes_to_charge = 0;
  bool names_quarantine = false;
};

plan_walk walked(const node& plan);

}  // namespace sluice::lib
