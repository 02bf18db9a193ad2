// SPDX-License-Identifier: Apache-2.0
// Apart from inspect.cpp, so that programs without expressions do not link their evaluation.
#include <utility>

#include "sluice/op/inspect.hpp"

namespace sluice::lib {

preserving inspect(expression e) {
  return {inspect_op, arguments::of(inspect_arguments{expression_function(std::move(e))})};
}
preserving tap(expression e) { return inspect(std::move(e)); }

}  // namespace sluice::lib
