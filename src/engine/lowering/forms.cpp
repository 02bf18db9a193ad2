// SPDX-License-Identifier: Apache-2.0
// Decides which functions an operator accepts if its argument is narrower than a class of functions.hpp.
#include "sluice/engine/detail/element_functions.hpp"
#include "sluice/engine/detail/state_calls.hpp"
#include "sluice/engine/detail/stream_functions.hpp"

namespace sluice::lib::detail {

bool scanning_form::accepts(const stage_function& f) { return dynamic_cast<const state_function*>(&f) && f.out; }

bool reducing_form::accepts(const stage_function& f) { return dynamic_cast<const state_function*>(&f) && !f.out; }

void set_function(optional_function<finishing_form>& argument, function_ptr function) {
  argument.value = std::move(function);
}
bool finishing_form::accepts(const stage_function& f) { return dynamic_cast<const block_function*>(&f) && !f.draws; }

bool transform_form::accepts(const stage_function& f) { return dynamic_cast<const stream_function*>(&f) && f.in; }

bool generator_form::accepts(const stage_function& f) { return dynamic_cast<const stream_function*>(&f) && !f.in; }

}  // namespace sluice::lib::detail
