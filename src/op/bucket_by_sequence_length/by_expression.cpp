// SPDX-License-Identifier: Apache-2.0
// Apart from bucket_by_sequence_length.cpp, so that programs without expressions do not link their evaluation.
#include "sluice/op/bucket_by_sequence_length.hpp"

namespace sluice::lib::detail {

function_ptr length_by_expression(const expression& length) { return expression_function(length); }

}  // namespace sluice::lib::detail
