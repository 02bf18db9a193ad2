// SPDX-License-Identifier: Apache-2.0
#include "pipeline/plan_walk.hpp"

#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"

#include "pipeline/replay/delivered_place.hpp"
#include "plan/plan_parts.hpp"

namespace sluice::lib {
namespace {

/// Plans with at most this number of nodes are not charged: their memory is small compared with that of a thread.
constexpr std::size_t kPlanNodesFree = 256;

/// Returns the number of nodes, including those of inner plans. Each node is counted once. Returns 0 for at most
/// kPlanNodesFree nodes.
std::size_t nodes_to_charge(const node& plan) {
  std::vector<const node*> open{&plan};
  absl::flat_hash_set<const node*> seen;
  std::size_t met = 0;
  for (bool is_large = false; !open.empty();) {
    const node& n = *open.back();
    open.pop_back();
    if (++met == kPlanNodesFree && !is_large) {  // until now without the set; some nodes may have been counted twice
      is_large = true;
      open = {&plan};
      continue;
    }
    if (is_large && !seen.insert(&n).second) continue;
    for (const node_ptr& input : n.inputs) open.push_back(input.get());
    for_each_plan(n, [&open](const node_ptr& inner) { open.push_back(inner.get()); });
  }
  return seen.size() > kPlanNodesFree ? seen.size() : 0;
}

/// Differs from the keys of the optimizer, which are hashes of its options.
constexpr std::uint64_t kWalkKey = 0x706c'616e'5f77'616c;

class kept_walk final : public plan_memo::entry {
 public:
  explicit kept_walk(const plan_walk& w) : entry(kWalkKey), walk(w) {}
  const plan_walk walk;
};

}  // namespace

plan_walk walked(const node& plan) {
  if (const plan_memo::entry* known = plan.memo.find(kWalkKey)) return static_cast<const kept_walk&>(*known).walk;
  const plan_walk found{nodes_to_charge(plan), names_quarantine(plan)};
  std::unique_ptr<plan_memo::entry> made = std::make_unique<kept_walk>(found);
  (void)plan.memo.add(made);  // a full memo leaves it to `made`
  return found;
}

}  // namespace sluice::lib
