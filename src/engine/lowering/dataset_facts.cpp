// SPDX-License-Identifier: Apache-2.0
// Facts about a dataset that are known without a run.
#include "engine/lowering/element_specs.hpp"
#include "sluice/element/spec.hpp"
#include "sluice/engine/dataset_options.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

cardinality plan_holder::cardinality() const { return cardinality_of(*plan()); }
cardinality_bounds plan_holder::cardinality_limits() const { return cardinality_bounds_of(*plan()); }
spec plan_holder::element_spec() const { return element_spec_of(*plan()); }

dataset_options plan_holder::options() const {
  dataset_options all;
  for (const node* n = plan().get();; n = n->inputs[0].get()) {
    if (n->op->facts.options) all.complete_by(n->op->facts.options(*n));
    if (n->op->shape != op_info::stage) return all;
  }
}

}  // namespace sluice::lib
