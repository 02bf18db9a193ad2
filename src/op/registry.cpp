// SPDX-License-Identifier: Apache-2.0
// The table of operators, for lookups by name. A static library drops objects that nothing refers to, so operators do
// not register themselves: operators.def names them.
#include "sluice/plan/node.hpp"

namespace sluice::lib {

#define SLUICE_OPERATOR(name) extern const op_info name##_op;
#include "op/operators.def"
#undef SLUICE_OPERATOR

std::span<const op_info* const> operators() {
  static const op_info* const all[] = {
#define SLUICE_OPERATOR(name) &name##_op,
#include "op/operators.def"
#undef SLUICE_OPERATOR
  };
  return all;
}

}  // namespace sluice::lib
