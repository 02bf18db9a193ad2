// SPDX-License-Identifier: Apache-2.0
// A run as an ArrowArrayStream, and an ArrowArrayStream as a source, for types that are known at run time only. Typed
// functions: sluice/arrow.hpp.
//
//   ArrowArrayStream out;
//   status ready = export_stream(rt, open_run(*rt, plan), &out);        // std::shared_ptr<runtime> rt
//   node_ptr plan = from_arrow_source(type_of<batched<sample>>(), make_stream, {});
//
// Errors: export_stream: invalid_argument where the elements are not batches, or have no form in Arrow. The exported
//         stream's functions return an errno and keep the words for get_last_error; after an error, and after the end, they
//         say the same again. from_arrow_source: an error of the stage "from_arrow": what the foreign stream says, with its
//         number; what does not fit (arrow/columns.hpp), with the number of the batch; failed_precondition where the stream
//         that a resume opens is shorter.
// Thread: get_next blocks until the run has made the next batch; it refuses to on a worker of the runtime. An exported stream
//         is used by one thread at a time, any; arrays that it gave are on their own.
// Owns:   an exported stream owns its run, and a share of the runtime where it is given one; releasing it stops the run and
//         does not wait, except for the runtime's end if it has the last share: not on a worker then. Its arrays stay valid
//         after the stream, the run and the runtime are gone.
#pragma once

#include <functional>
#include <memory>

#include "sluice/arrow/columns.hpp"
#include "sluice/coro/any_stream.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

class runtime;
class blocking_service;

/// Fills `out`, which is not initialised, from the rest of the run `s`.
status export_stream(std::shared_ptr<runtime> rt, any_stream s, ArrowArrayStream* out, const arrow_options& o = {});
/// The same over a runtime that outlives the stream.
status export_stream(runtime& rt, any_stream s, ArrowArrayStream* out, const arrow_options& o = {});

/// Makes a stream in place. Errors: exceptions.
using arrow_open = std::function<void(ArrowArrayStream*)>;

/// What moves `s` out at the first call; failed_precondition at every other one. Whoever drops it uncalled releases `s`.
arrow_open open_once(ArrowArrayStream* s);

struct from_arrow_options {
  /// Where the foreign stream is called: `&rt.blocking_calls()` for one that waits (for a disk, a network, Python's lock).
  /// Null: on the worker that needs the batch.
  blocking_service* threads = nullptr;
};

/// A source of batches of this type. Batches that are passed over are read and not looked at.
node_ptr from_arrow_source(const element_type& batch, arrow_open open, const from_arrow_options& o);

}  // namespace sluice::lib
