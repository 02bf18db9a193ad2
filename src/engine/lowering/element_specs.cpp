// SPDX-License-Identifier: Apache-2.0
#include "engine/lowering/element_specs.hpp"

#include "element/spec_parts.hpp"
#include "engine/lowering/types.hpp"

namespace sluice::lib {

spec element_spec_of(const node& n) {
  if (n.op->spec) return n.op->spec(n);
  return n.op->type == same_type ? same_spec(n) : spec_of(*n.type);
}

cardinality batch_rows_of(const node& n) {
  const cardinality stated = row_cardinality_of(n), batches = cardinality_of(n);
  if (stated.kind != cardinality::unknown || batches.kind == cardinality::unknown || n.type->kind != kind::batch)
    return stated;
  const std::int64_t length = length_of_batch(element_spec_of(n));
  return length == spec::kUnknown ? stated : batches.times(length);
}

spec same_spec(const node& n) { return element_spec_of(*n.inputs[0]); }

spec spec_of_inputs(const node& n, std::size_t inputs) {
  spec all = element_spec_of(*n.inputs[0]);
  for (std::size_t i = 1; i != inputs; ++i) {
    result<spec> both = merge(all, element_spec_of(*n.inputs[i]));
    if (!both.ok()) return spec_of(*n.type);  // the tensors have different dtypes
    all = *std::move(both);
  }
  return all;
}

spec spec_of_batches(const node& n, count rows, bool all_have_so_many) {
  return spec_of_batch(element_spec_of(*n.inputs[0]), all_have_so_many ? rows.value : spec::kUnknown);
}

spec spec_of_inner(const node& n, const plan_or_function& inner) {
  return inner.plan ? element_spec_of(*inner.plan) : spec_of(*n.type);
}

}  // namespace sluice::lib
