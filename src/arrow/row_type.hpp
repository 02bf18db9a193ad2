// SPDX-License-Identifier: Apache-2.0
// Types of rows as text, and of Arrow schemas.
//
//   row_type_of("text: string, label: int64, tags: int32[], box: float[4]?, at: {x: double, y: double}")
//
//   rows   := field { "," field } | type            field := name ":" type
//   type   := ( number | "string" | "bytes" | "{" field { "," field } "}" | "(" type { "," type } ")" )
//             { "[" [ count ] "]" | "?" }
//   number := "bool" | "int8" … "int64" | "uint8" … "uint64" | "float" | "double"
//
// `[]`: a list; `[4]`: exactly so many values; `?`: may be null. string is UTF-8, bytes are anything. Optionals of structures,
// lists and arrays can be made by C++ only: at run time they are read without the `?`, and a null there is an error of its
// batch.
// Errors: invalid_argument, naming what is wrong, or the column that rows have no type for.
#pragma once

#include <string>
#include <string_view>

#include "sluice/arrow/c_data.hpp"
#include "sluice/base/result.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib::arrow {

result<const element_type*> row_type_of(std::string_view text);
/// The rows of record batches: structures; where the only column is called "value", what that has.
result<const element_type*> row_type_of(const ArrowSchema& s);
/// Reads back to rows with the same columns. REQUIRES: export_schema takes the type.
std::string row_text(const element_type& row);

}  // namespace sluice::lib::arrow
