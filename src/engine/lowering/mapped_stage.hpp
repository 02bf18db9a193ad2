// SPDX-License-Identifier: Apache-2.0
// The stage of operators that compute one output for each input: map and parse_example. It calls the function when an
// element is requested, or ahead of the consumer through a channel, in order or as calls finish.
#pragma once

#include <memory>

#include "engine/batching/row_landing.hpp"
#include "engine/lowering/open_context.hpp"
#include "sluice/engine/detail/functions.hpp"
#include "sluice/engine/map_options.hpp"

namespace sluice::lib {

/// A function whose output owns about as many bytes as its input, at most a few times as many. So outputs need not be
/// measured while a block is computed.
struct size_keeping_function : block_function {};

/// Returns true if elements are computed when the reader requests them, without a ring. A sloppy map has a ring at any
/// parallelism, because only the ring's log records the elements that were delivered before a mark, and a resume may
/// use another parallelism.
inline bool is_on_demand(const knob& parallelism, order delivered) {
  return parallelism.value == 1 && delivered == order::deterministic;
}

/// Opens the stage of n, which applies `f` to each element of n's input. `o`: the options among n's arguments.
/// REQUIRES: f is a block_function or an async_function.
erased_stream open_mapped(const node& n, open_context& context, const function_ptr& f, const map_options& o);
/// Opens the stage of an operator with options of its own, whose order is `own`. `parallelism`: one of n's arguments.
/// `drawn_by`: the source of f's random draws, if it makes any.
erased_stream open_mapped(const node& n, open_context& context, const function_ptr& f, const knob& parallelism,
                          order own, seed drawn_by = {});
/// Opens the stage for op_info::open_rows. Returns an empty stream unless f can append rows. A stage that works ahead
/// also needs rows that always stack, because no task knows the rows of another.
erased_stream open_mapped_rows(const node& n, open_context& context, const function_ptr& f, const map_options& o,
                               std::shared_ptr<row_landing> landing);

}  // namespace sluice::lib
