// SPDX-License-Identifier: Apache-2.0
// inject_prefetch: a plan gets a prefetch at its end, so that its stages work while the consumer does.
//
//   lines("a") | batch(64)     becomes     lines("a") | batch(64) | prefetch(autotune)
//
// A channel has no record, and its knob and site are its own: they belong to no stage of the user. The rule must be
// chosen, because a plan that works ahead reads elements that nobody may request. That is exact only if reading them
// early, or in vain, is not observable (optimizer/ahead.hpp).
#include <string>

#include "optimizer/ahead.hpp"
#include "optimizer/rule.hpp"
#include "sluice/op/prefetch.hpp"

namespace sluice::lib {
namespace {

/// Returns true if the stage has a channel already.
bool works_ahead(const node& n) {
  const knob* parallelism = parallelism_of(n);
  return n.op->name == "prefetch" || (parallelism && parallelism->value != 1);
}

node_ptr with_prefetch(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  if (!settings.is_last || n->op->facts.options || works_ahead(*n)) return n;
  if (std::string why = why_not_ahead(*n, settings); !why.empty()) {
    notes.refuse(inject_prefetch.info.name, "no prefetch at the end: " + why);
    return n;
  }
  node inserted{.op = &prefetch_op,
                .arguments = arguments::of(prefetch_arguments{}),
                .inputs = {n},
                .inserted_by = inject_prefetch.info.name};
  return remade(std::move(inserted), inject_prefetch.info.name);
}

}  // namespace

const rule inject_prefetch{{"inject_prefetch", "a prefetch at the end of the plan, if no one can observe it", true},
                           with_prefetch};

}  // namespace sluice::lib
