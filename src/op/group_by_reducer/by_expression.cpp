// SPDX-License-Identifier: Apache-2.0
// Apart from group_by_reducer.cpp, so that programs without expressions do not link their evaluation.
#include <utility>

#include "sluice/op/group_by_reducer.hpp"

namespace sluice::lib {

arguments group_by_expressions(expression key, expression initial, expression step, const element_type& state) {
  group_by_reducer_arguments a;
  a.key.value = expression_function(std::move(key));
  a.initial.value = expression_function(std::move(initial), {}, &state);
  a.function.value = expression_function(std::move(step), {}, &state);
  return arguments::of(std::move(a));
}

}  // namespace sluice::lib
