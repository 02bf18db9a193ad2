// SPDX-License-Identifier: Apache-2.0
// Apache Arrow without its library: exports batches, schemas and whole runs through the C Data Interface, and imports
// foreign streams as a source. pyarrow, pandas, Polars, DuckDB and all other users of the interface read the exports
// without a copy.
//
//   auto ds = range(1000) | map(make_sample) | batch(64);
//   ArrowArrayStream stream;
//   status ready = export_stream(rt, ds, &stream);  // pyarrow.RecordBatchReader._import_from_c(address of stream)
//
//   auto samples = from_arrow<sample>(open_table);        // dataset<batched<sample>>
//
// docs/arrow.md lists the conversions, and which of them copy.
// Order:  the order of batches in the run or the foreign stream; empty batches are kept.
// Ends:   with the run or the foreign stream.
// Errors: export: a status; see arrow/columns.hpp and pipeline/arrow_stream.hpp. from_arrow: an error of the stage,
//         which names the batch, the column and the value.
// Cancel: releasing an exported stream stops its run. A get_next of a foreign stream cannot be stopped: a stop waits
//         for it.
// Thread: exported structs may be used and released on any thread, each by one thread at a time. A foreign stream is
//         called by one thread at a time, but not always the same.
// Owns:   exported arrays have references on the buffers of the batch; they may outlive the batch, the run and the
//         runtime. A batch must not be written to while others read it. from_arrow copies, and releases each array at
//         once.
// State:  from_arrow: the number of batches delivered. A resume opens the stream again and skips them by reading; so do
//         other skips.
// See:    arrow/c_data.hpp for the structs
#pragma once

#include <memory>
#include <utility>

#include "sluice/arrow/columns.hpp"
#include "sluice/coro/stream.hpp"
#include "sluice/pipeline/arrow_stream.hpp"
#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib {

/// Exports the schema of batches of T. If the status is not ok, nothing is written to `out`. This also applies to the
/// functions below.
template <class T> status export_schema(ArrowSchema* out, const arrow_options& o = {}) {
  static_assert(stackable<T>, "sluice: rows of this element cannot be stacked");
  return export_schema(type_of<T>(), out, o);
}

/// Exports a batch, as a struct with a child for each member, or with the child "value". The caller releases it.
template <class T> status export_batch(const batched<T>& b, ArrowArray* out, const arrow_options& o = {}) {
  return export_rows(b.storage(), type_of<T>(), out, o);
}
/// Does the same, and exports the schema.
template <class T>
status export_batch(const batched<T>& b, ArrowArray* out, ArrowSchema* schema, const arrow_options& o = {}) {
  status typed = export_schema(b.storage(), type_of<T>(), schema, o);
  if (!typed.ok()) return typed;
  status rows = export_batch(b, out, o);
  if (!rows.ok()) schema->release(schema);
  return rows;
}

/// Exports the remaining elements of a run. `rt` outlives the stream; as a shared_ptr it lives as long as the stream.
template <class T> status export_stream(runtime& rt, stream<T> s, ArrowArrayStream* out, const arrow_options& o = {}) {
  static_assert(detail::is_batched<T>, "sluice: export_stream takes batches: end the plan with batch(n)");
  return export_stream(rt, any_stream(erased_stream(std::move(s))), out, o);
}
template <class T>
status export_stream(std::shared_ptr<runtime> rt, stream<T> s, ArrowArrayStream* out, const arrow_options& o = {}) {
  static_assert(detail::is_batched<T>, "sluice: export_stream takes batches: end the plan with batch(n)");
  return export_stream(std::move(rt), any_stream(erased_stream(std::move(s))), out, o);
}
/// Starts a new run and exports it.
template <class T>
status export_stream(runtime& rt, const dataset<T>& d, ArrowArrayStream* out, const arrow_options& o = {}) {
  return export_stream(rt, d.iterate(rt), out, o);
}
template <class T>
status export_stream(const std::shared_ptr<runtime>& rt, const dataset<T>& d, ArrowArrayStream* out,
                     const arrow_options& o = {}) {
  return export_stream(rt, d.iterate(*rt), out, o);
}

/// A source of the batches of a foreign stream. `open` fills the struct that is passed to it. It is called once for
/// each run, epoch and resume. Members are found by name (arrow/columns.hpp); other columns of the stream are ignored.
template <class T> dataset<batched<T>> from_arrow(arrow_open open, const from_arrow_options& o = {}) {
  static_assert(stackable<T>, "sluice: rows of this element cannot be stacked");
  return dataset<batched<T>>(from_arrow_source(type_of<batched<T>>(), std::move(open), o));
}
/// A source of one stream, which is moved out of `s` and can be read once.
template <class T> dataset<batched<T>> from_arrow(ArrowArrayStream* s, const from_arrow_options& o = {}) {
  return from_arrow<T>(open_once(s), o);
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::arrow_open;
using lib::export_batch;
using lib::export_schema;
using lib::export_stream;
using lib::from_arrow;
using lib::from_arrow_options;

}  // namespace sluice
