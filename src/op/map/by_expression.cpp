// SPDX-License-Identifier: Apache-2.0
// Apart from map.cpp, so that programs without expressions do not link their evaluation.
#include <utility>

#include "sluice/op/map.hpp"

namespace sluice::lib {

arguments map_by_expression(expression e, const element_type& wanted, map_options o) {
  return arguments::of(map_arguments{expression_function(std::move(e), {}, &wanted), o});
}

}  // namespace sluice::lib
