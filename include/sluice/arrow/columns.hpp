// SPDX-License-Identifier: Apache-2.0
// Converts columns to Arrow arrays and back, for types that are known at run time only. sluice/arrow.hpp has the typed
// functions.
//
//   ArrowSchema schema;
//   ArrowArray array;
//   status typed = export_schema(type_of<sample>(), &schema);                       // before any row exists
//   status shared = export_rows(batch.storage(), type_of<sample>(), &array);        // no bytes are copied
//   …
//   array.release(&array);
//
// docs/arrow.md lists the conversions. Rows of structures are an Arrow struct with a child for each member. Other rows
// are a struct with one child, "value", because consumers of record batches expect structs.
// Errors: invalid_argument with the path of the column ("path[].name"), the actual and the expected type: a type
//         without a form in Arrow, a text that is not UTF-8, a schema that does not fit, a null without an optional.
//         data_loss: an array that violates the rules of the interface. resource_exhausted: more than 2^31 - 1 bytes or
//         elements in a column. If the status is not ok, nothing is written to `out`, and no row is appended.
// Thread: exported structs may be read and released on any thread, each by one thread at a time, even after the batch
//         and its run are gone.
// Owns:   an exported array has references on the buffers of its columns; children may be moved out of it. The batch
//         must not be changed while a consumer reads the array: both use the same memory.
// Cost:   exports: one or two allocations per column; bools are packed, a bit each; texts that become utf8 are checked.
//         Imports copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sluice/arrow/c_data.hpp"
#include "sluice/base/status.hpp"
#include "sluice/element/batched.hpp"

namespace sluice::lib {

/// The Arrow type of texts. The bytes are the same in both.
enum class arrow_texts : std::uint8_t {
  by_type,  ///< utf8: std::string and line; binary: slice, record and the user's own classes
  utf8,     ///< all texts; a text that is not UTF-8 is an error
  binary,   ///< all texts
};

struct arrow_options {
  arrow_texts texts = arrow_texts::by_type;
};

/// Exports the type of one column, as a field of this name.
status export_type(const element_type& type, std::string_view name, ArrowSchema* out, const arrow_options& o = {});
/// Exports the rows [first, first + n) of a column.
status export_column(const column& c, std::size_t first, std::size_t n, ArrowArray* out, const arrow_options& o = {});

/// Exports the schema of batches whose rows have this type: a struct.
status export_schema(const element_type& row, ArrowSchema* out, const arrow_options& o = {});
/// Exports the schema of this batch's rows. Needed for types with tensors, whose shapes are known from the batch: they
/// are `arrow.fixed_shape_tensor`, an extension type over fixed lists. Errors: invalid_argument also if the batch has
/// no row, and for strings and bfloat16.
status export_schema(const batch_storage& b, const element_type& row, ArrowSchema* out, const arrow_options& o = {});
/// Exports a batch: a struct with offset 0 and without nulls. REQUIRES: the rows are of type `row`.
status export_rows(const batch_storage& b, const element_type& row, ArrowArray* out, const arrow_options& o = {});

/// Checks that arrays of this schema can be appended to a column of this type. Members are found by name, in any order,
/// and other Arrow fields are ignored; pairs and tuples are matched by position. Numbers must have the same width and
/// sign. An optional member may be missing, or have the type null. Texts accept u, z, U and Z; lists and batches +l, +L
/// and +w; arrays +w of their extent.
status check_arrow_type(const element_type& type, const ArrowSchema& s);
/// Appends the values [first, first + n) of an array. Checks counts and pointers, and that offsets do not decrease or
/// exceed their child. The lengths of buffers are unknown here: code that reads them from a file must check the last
/// offset of texts itself.
status append_arrow(column& to, const ArrowSchema& s, const ArrowArray& a, std::size_t first, std::size_t n);

/// The same two functions for record batches: `s` is a struct. Rows that are not structures use its only column, or the
/// one with the name "value".
status check_arrow_rows(const element_type& row, const ArrowSchema& s);
status append_arrow_rows(batch_storage& to, const element_type& row, const ArrowSchema& s, const ArrowArray& a);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::arrow_options;
using lib::arrow_texts;

}  // namespace sluice
