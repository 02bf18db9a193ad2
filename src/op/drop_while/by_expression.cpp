// SPDX-License-Identifier: Apache-2.0
// Apart from drop_while.cpp, so that programs without expressions do not link their evaluation.
#include <utility>

#include "sluice/op/drop_while.hpp"

namespace sluice::lib {

preserving drop_while(expression condition, drop_while_options o) {
  return {drop_while_op, arguments::of(drop_while_arguments{expression_function(std::move(condition)), o})};
}

}  // namespace sluice::lib
