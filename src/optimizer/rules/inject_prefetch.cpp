// SPDX-License-Identifier: Apache-2.0
// inject_prefetch: a plan gets a prefetch at its end, so that its stages work while the consumer does. So do the plans that
// an interleave opens for files of a remote file system: while one is read, the others wait for the network.
//
//   lines("a") | batch(64)     becomes     lines("a") | batch(64) | prefetch(autotune)
//   list_files("s3://b/*") | interleave(lines, cycle_length=4, parallelism=1)
//     becomes     list_files("s3://b/*") | interleave(lines | prefetch(autotune), cycle_length=4, parallelism=1)
//
// An interleave with parallelism reads its files ahead by itself (parallelize), and stays as it is.
//
// A channel has no record, and its knob and site are its own: they belong to no stage of the user. The rule must be
// chosen, because a plan that works ahead reads elements that nobody may request. That is exact only if reading them
// early, or in vain, is not observable (optimizer/ahead.hpp).
#include <string>

#include "optimizer/ahead.hpp"
#include "optimizer/rule.hpp"
#include "sluice/op/interleave.hpp"
#include "sluice/op/prefetch.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// Returns true if the stage has a channel already.
bool works_ahead(const node& n) {
  const knob* parallelism = parallelism_of(n);
  return n.op->name == "prefetch" || (parallelism && parallelism->value != 1);
}

node_ptr prefetched(const node_ptr& n) {
  node inserted{.op = &prefetch_op,
                .arguments = arguments::of(prefetch_arguments{}),
                .inputs = {n},
                .inserted_by = inject_prefetch.info.name};
  return remade(std::move(inserted), inject_prefetch.info.name);
}

/// Returns the reason why the files of an interleave are read one block after the other; empty if they may be read ahead.
std::string why_not_inside(const node& interleave, const in_force& settings) {
  if (settings.is_beside_others) return "it belongs to one of several inputs, and the first that ends or fails decides";
  if (settings.feeds_sloppy) return "a stage downstream delivers in sloppy order";
  return why_not_ahead(interleave, settings);
}

node_ptr with_prefetch_inside(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  if (settings.is_inner || !is_interleave_of_remote(*n) || works_ahead(*n)) return n;
  interleave_arguments a = n->as<interleave_arguments>();
  if (!a.inner.plan || works_ahead(*a.inner.plan)) return n;
  if (std::string why = why_not_inside(*n, settings); !why.empty()) {
    notes.refuse(inject_prefetch.info.name, "no prefetch inside of " + stage_text(*n) + ": " + why);
    return n;
  }
  a.inner.plan = prefetched(a.inner.plan);
  node copy = *n;
  copy.arguments = arguments::of(std::move(a));
  return remade(std::move(copy), inject_prefetch.info.name);
}

node_ptr with_prefetch_at_end(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  if (!settings.is_last || n->op->facts.options || works_ahead(*n)) return n;
  if (std::string why = why_not_ahead(*n, settings); !why.empty()) {
    notes.refuse(inject_prefetch.info.name, "no prefetch at the end: " + why);
    return n;
  }
  return prefetched(n);
}

node_ptr with_prefetch(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  return with_prefetch_at_end(with_prefetch_inside(n, settings, notes), settings, notes);
}

}  // namespace

const rule inject_prefetch{
    {"inject_prefetch", "a prefetch at the end of the plan, and of plans of remote files, if no one can observe it",
     true},
    with_prefetch};

}  // namespace sluice::lib
