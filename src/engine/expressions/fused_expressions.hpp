// SPDX-License-Identifier: Apache-2.0
// Maps and filters whose functions are expressions, as parts of one pass.
#pragma once

#include <memory>
#include <vector>

#include "engine/lowering/fused_stage.hpp"
#include "expr/fused_program.hpp"

namespace sluice::lib {

class fusable_expression : public fusable_function {
 public:
  std::unique_ptr<one_pass> compile(const std::vector<const stage_function*>& functions, bool from_columns) const final;
  virtual fused_part part() const = 0;
};

}  // namespace sluice::lib
