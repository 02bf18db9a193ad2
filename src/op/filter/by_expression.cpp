// SPDX-License-Identifier: Apache-2.0
// Apart from filter.cpp, so that programs without expressions do not link their evaluation.
#include <utility>

#include "sluice/op/filter.hpp"

namespace sluice::lib {

preserving filter(expression condition, filter_options o) {
  return {filter_op, arguments::of(filter_arguments{expression_function(std::move(condition)), o})};
}

}  // namespace sluice::lib
