// SPDX-License-Identifier: Apache-2.0
// A run as an ArrowArrayStream, and an ArrowArrayStream as a source, for types that are known at run time only.
// sluice/arrow.hpp has the typed functions.
//
//   ArrowArrayStream out;
//   status ready = export_stream(rt, open_run(*rt, plan), &out);        // std::shared_ptr<runtime> rt
//   node_ptr plan = from_arrow_source(type_of<batched<sample>>(), make_stream, {});
//
// Errors: export_stream: invalid_argument if the elements are not batches, or have no form in Arrow. The exported
//         stream's functions return an errno and keep the message for get_last_error. After an error, and after the
//         end, they return the same again. from_arrow_source: an error of the stage "from_arrow": the foreign stream's
//         message, with its number; data that do not fit (arrow/columns.hpp), with the number of the batch;
//         failed_precondition if the stream that a resume opens is shorter.
// Thread: get_next blocks until the run has made the next batch. It fails on a worker of the runtime. An exported
//         stream may be used on any thread, by one thread at a time; the arrays that it returned are independent.
// Owns:   an exported stream owns its run, and a share of the runtime if it was given one. Releasing it stops the run
//         and does not wait, except for the runtime's end if it has the last share; then it must not be released on a
//         worker. Its arrays stay valid after the stream, the run and the runtime are gone.
#pragma once

#include <functional>
#include <memory>

#include "sluice/arrow/columns.hpp"
#include "sluice/coro/any_stream.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

class runtime;
class blocking_service;

/// Fills `out`, which is not initialized, from the remaining elements of the run `s`.
status export_stream(std::shared_ptr<runtime> rt, any_stream s, ArrowArrayStream* out, const arrow_options& o = {});
/// Does the same for a runtime that outlives the stream.
status export_stream(runtime& rt, any_stream s, ArrowArrayStream* out, const arrow_options& o = {});

/// Fills a stream struct in place. Errors: exceptions.
using arrow_open = std::function<void(ArrowArrayStream*)>;

/// Returns a function that moves `s` out at the first call, and throws failed_precondition at every other one. If it is
/// destroyed without a call, it releases `s`.
arrow_open open_once(ArrowArrayStream* s);

struct from_arrow_options {
  /// The threads that call the foreign stream: `&rt.blocking_calls()` for a stream that waits (for a disk, a network,
  /// Python's lock). Null: the worker that needs the batch calls it.
  blocking_service* threads = nullptr;
};

/// A source of batches of this type. Skipped batches are read but not converted.
node_ptr from_arrow_source(const element_type& batch, arrow_open open, const from_arrow_options& o);

}  // namespace sluice::lib
