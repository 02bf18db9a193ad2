// SPDX-License-Identifier: Apache-2.0
// Apart from group_by_window.cpp, so that programs without expressions do not link their evaluation.
#include "sluice/op/group_by_window.hpp"

namespace sluice::lib::detail {

function_ptr grouping_by_expression(const expression& e) { return expression_function(e); }

}  // namespace sluice::lib::detail
