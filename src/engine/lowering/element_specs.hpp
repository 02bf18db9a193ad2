// SPDX-License-Identifier: Apache-2.0
// Derives the spec of a plan's elements before any element exists, for op_info::spec. A spec describes the shapes of
// tensors and the lengths of lists, which an element type does not contain.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/element/slab.hpp"
#include "sluice/element/spec.hpp"
#include "sluice/engine/detail/functions.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

spec element_spec_of(const node& n);
/// Returns the number of rows in all batches of `n`: what the plan states, or its number of batches times their length.
cardinality batch_rows_of(const node& n);

// For op_info::spec.

/// Returns the spec of the input.
spec same_spec(const node& n);
/// Returns the spec of the elements of the first `inputs` inputs, which have one type.
spec spec_of_inputs(const node& n, std::size_t inputs);
/// Returns the spec of batches of the input's elements. `rows`: the number of rows, if all batches have the same.
spec spec_of_batches(const node& n, count rows, bool all_have_so_many);
/// Returns the spec of the elements of the plans that are opened for each element.
spec spec_of_inner(const node& n, const plan_or_function& inner);

/// Returns the spec of the value that make(void* to) builds.
template <class F> spec spec_of_made(const element_type& t, F make) {
  slab one(t);
  char* at = one.reserve(1);
  make(at);
  one.set_live(0, 1);
  return spec_of(t, at);
}

/// A block_function that derives a more exact spec of its results than their type.
class knows_spec {
 public:
  virtual spec spec_for(const spec& in) const = 0;

 protected:
  ~knows_spec() = default;
};

}  // namespace sluice::lib
