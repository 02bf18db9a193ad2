// SPDX-License-Identifier: Apache-2.0
// Apart from scan.cpp, so that programs without expressions do not link their evaluation.
#include <utility>

#include "sluice/op/scan.hpp"

namespace sluice::lib {

arguments scan_by_expression(expression initial, expression step, const element_type& state) {
  scan_arguments a;
  a.initial.value = expression_function(std::move(initial), {}, &state);
  a.function.value = expression_function(std::move(step), {}, &state);
  return arguments::of(std::move(a));
}

}  // namespace sluice::lib
