// SPDX-License-Identifier: Apache-2.0
// The stage of operators that compute one output for each input: map and parse_example. It calls the function on demand,
// or ahead of the consumer through a channel, in order or as calls finish.
#pragma once

#include <memory>

#include "engine/batching/row_landing.hpp"
#include "engine/lowering/open_context.hpp"
#include "sluice/engine/map_options.hpp"

namespace sluice::lib {

/// The stage of n, whose outputs `f` makes of the elements of n's input. `o`: the options among n's arguments. REQUIRES: f
/// is a block_function or an async_function.
erased_stream open_mapped(const node& n, open_context& context, const function_ptr& f, const map_options& o);
/// The same for an operator with options of its own, which states the order `own`. `parallelism`: one of n's arguments.
/// `drawn_by`: the source of f's random draws, if it makes any.
erased_stream open_mapped(const node& n, open_context& context, const function_ptr& f, const knob& parallelism,
                          order own, seed drawn_by = {});
/// The same for op_info::open_rows: an empty stream, unless f can append rows and is called on demand.
erased_stream open_mapped_rows(const node& n, open_context& context, const function_ptr& f, const map_options& o,
                               std::shared_ptr<row_landing> landing);

}  // namespace sluice::lib
