// SPDX-License-Identifier: Apache-2.0
// The stage of parquet.
#pragma once

#include <memory>

#include "engine/batching/row_landing.hpp"
#include "engine/lowering/open_context.hpp"
#include "op/parquet/group_input.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

/// `landing`: receives the rows in its columns; null: elements are built.
erased_stream open_parquet_stage(const node& n, open_context& context, group_input_options o,
                                 std::shared_ptr<row_landing> landing);

}  // namespace sluice::lib
