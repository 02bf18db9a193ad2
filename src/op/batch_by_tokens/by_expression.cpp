// SPDX-License-Identifier: Apache-2.0
// Apart from batch_by_tokens.cpp, so that programs without expressions do not link their evaluation.
#include "sluice/op/batch_by_tokens.hpp"

namespace sluice::lib::detail {

function_ptr tokens_by_expression(const expression& length) { return expression_function(length); }

}  // namespace sluice::lib::detail
