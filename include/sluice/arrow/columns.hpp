// SPDX-License-Identifier: Apache-2.0
// Columns as Arrow arrays and back: for types that are known at run time only. Typed functions: sluice/arrow.hpp.
//
//   ArrowSchema schema;
//   ArrowArray array;
//   status typed = export_schema(type_of<sample>(), &schema);                       // before there is any row
//   status shared = export_rows(batch.storage(), type_of<sample>(), &array);        // no bytes are copied
//   …
//   array.release(&array);
//
// What becomes what: docs/arrow.md. Rows of structures are an Arrow struct with a child for each member; rows of anything
// else are a struct with one child, "value", because consumers of record batches expect structs.
// Errors: invalid_argument with the path of the column ("path[].name"), what was found and what was expected: a type that
//         Arrow has no form for, a text that is not UTF-8, a schema that does not fit, a null without an optional. data_loss:
//         an array that breaks the rules of the interface. resource_exhausted: more than 2^31 - 1 bytes or elements in a
//         column. Nothing is written to `out`, and no row is appended, where the status is not ok.
// Thread: exported structs may be read and released on any thread, each by one at a time, also after the batch and its
//         run are gone.
// Owns:   an exported array has references on the buffers of its columns; children may be moved out of it. The batch must
//         not be changed while somebody reads the array: it is the same memory.
// Cost:   exports: one or two allocations for each column; bools are packed, a bit each; texts that become utf8 are looked
//         at once. Imports copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sluice/arrow/c_data.hpp"
#include "sluice/base/status.hpp"
#include "sluice/element/batched.hpp"

namespace sluice::lib {

/// What texts are in Arrow. Their bytes are the same in both.
enum class arrow_texts : std::uint8_t {
  by_type,  ///< utf8: std::string and line; binary: slice, record and the user's own classes
  utf8,     ///< all; a text that is not UTF-8 is an error
  binary,   ///< all
};

struct arrow_options {
  arrow_texts texts = arrow_texts::by_type;
};

/// The type of one column, as a field of this name.
status export_type(const element_type& type, std::string_view name, ArrowSchema* out, const arrow_options& o = {});
/// The rows [first, first + n) of a column.
status export_column(const column& c, std::size_t first, std::size_t n, ArrowArray* out, const arrow_options& o = {});

/// The schema of batches whose rows have this type: a struct.
status export_schema(const element_type& row, ArrowSchema* out, const arrow_options& o = {});
/// The same of this batch's rows. Of types with tensors, whose shapes the batch tells: they are `arrow.fixed_shape_tensor`,
/// an extension type over fixed lists. Errors: invalid_argument, too, where the batch has no row, and for strings and bfloat16.
status export_schema(const batch_storage& b, const element_type& row, ArrowSchema* out, const arrow_options& o = {});
/// A batch: a struct whose offset is 0 and which has no nulls. REQUIRES: the rows are of type `row`.
status export_rows(const batch_storage& b, const element_type& row, ArrowArray* out, const arrow_options& o = {});

/// Can arrays of this schema be appended to a column of this type? Members are found by name, in any order, and what else
/// there is in Arrow is ignored; pairs and tuples by position. Numbers must have the same width and sign. An optional member
/// may be missing, or of the type null. Texts take u, z, U and Z; lists and batches +l, +L and +w; arrays +w of their extent.
status check_arrow_type(const element_type& type, const ArrowSchema& s);
/// Appends the values [first, first + n) of an array, which is checked: counts and pointers, offsets that fall or leave their
/// child. The lengths of buffers are not known here: whoever reads them from a file compares the last offset of texts itself.
status append_arrow(column& to, const ArrowSchema& s, const ArrowArray& a, std::size_t first, std::size_t n);

/// The same two for record batches: `s` is a struct. For rows that are not structures, its only column, or the one called
/// "value".
status check_arrow_rows(const element_type& row, const ArrowSchema& s);
status append_arrow_rows(batch_storage& to, const element_type& row, const ArrowSchema& s, const ArrowArray& a);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::arrow_options;
using lib::arrow_texts;

}  // namespace sluice
