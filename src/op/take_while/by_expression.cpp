// SPDX-License-Identifier: Apache-2.0
// Apart from take_while.cpp, so that programs without expressions do not link their evaluation.
#include <utility>

#include "sluice/op/take_while.hpp"

namespace sluice::lib {

preserving take_while(expression condition, take_while_options o) {
  return {take_while_op, arguments::of(take_while_arguments{expression_function(std::move(condition)), o})};
}

}  // namespace sluice::lib
