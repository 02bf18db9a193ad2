// SPDX-License-Identifier: Apache-2.0
// Types of rows from text, and from Arrow schemas.
//
//   row_type_of("text: string, label: int64, tags: int32[], box: float[4]?, at: {x: double, y: double}")
//
//   rows   := field { "," field } | type | "type " TEXT      field := name ":" type
//   type   := ( number | "string" | "bytes" | "{" field { "," field } "}" | "(" type { "," type } ")" )
//             { "[" [ count ] "]" | "?" }
//   number := "bool" | "int8" … "int64" | "uint8" … "uint64" | "float" | "double" | "timestamp[us, UTC]" | "date32" …
//
// `[]`: a list; `[4]`: exactly four values; `?`: may be null. string is UTF-8, bytes are arbitrary. Numbers, string and
// bytes also have the other names that all schemas accept (int, float64, utf8, binary …), and dates and times those of
// element/temporal.hpp, also in pyarrow's spelling. Names of columns with special characters are in double quotes or
// backticks.
// After the word `type` follows the text of any element type (element/type_text.hpp), which may have a C++ name:
// "type sample{text: string, label: int64}".
// Errors: invalid_argument, with the reason or the column whose type rows do not support.
#pragma once

#include <string>
#include <string_view>

#include "sluice/arrow/c_data.hpp"
#include "sluice/base/result.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib::arrow {

result<const element_type*> row_type_of(std::string_view text);
/// Returns the type of the rows of record batches: a structure. If the only column is called "value", returns that
/// column's type.
result<const element_type*> row_type_of(const ArrowSchema& s);
/// Returns the type of one column.
result<const element_type*> column_type_of(const ArrowSchema& s);
/// Returns a text that row_type_of reads as rows with the same columns. REQUIRES: export_schema accepts the type.
std::string row_text(const element_type& row);
/// Returns a text that row_type_of reads as the same type. REQUIRES: can_stack(row).
std::string exact_row_text(const element_type& row);

}  // namespace sluice::lib::arrow
