// SPDX-License-Identifier: Apache-2.0
// The columns of a CSV file: their names, types and defaults, as text and as structures.
//
//   auto schema = csv_schema_of("name: bytes, x: float, n: int64 = 0, score: double?");
//   schema->row                                        // a structure: name, x, n, score
//
//   schema  := column { "," column }
//   column  := member [ "=" 'name' ] ":" type [ "?" ] [ "=" default ]
//   type    := "bytes" | "bool" | "int8" … "int64" | "uint8" … "uint64" | "float" | "double"
//   default := number | "true" | "false" | 'text'
//
// A member is a name, or any text in "…". The header name of a member is the member's own name, unless the text gives
// another: `length = 'Sepal Length': float`. With `?` an empty or missing field has no value. With a default such a
// field has this value. With neither the field is required. An empty quoted field counts as empty. Exception: in a
// bytes column without a default it is the empty text. Texts are in '…', with \\ \' \n \t \xHH. For a structure of the
// program the columns are its members: numbers, bools, std::string, and std::optional of these.
// Errors: invalid_argument, with the column of the text (from 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/result.hpp"
#include "sluice/element/dtype.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

/// The treatment of a column by its reader. checked: it finds the same errors, and builds no values.
enum class column_use : std::uint8_t { built, checked, skipped };

struct csv_column {
  std::string member{};          ///< the name in the structure
  std::string name{};            ///< the name in the file's header
  dtype values = dtype::string;  ///< not float16, not bfloat16
  bool is_optional = false;
  std::size_t offset = 0;                  ///< the member's offset
  std::optional<std::string> otherwise{};  ///< the default, as the text of a field
  column_use use = column_use::built;
};

struct csv_schema {
  const element_type* row = nullptr;
  std::vector<csv_column> columns{};
};

result<csv_schema> csv_schema_of(std::string_view text);
/// Makes the schema of a structure. Errors: also a member whose type a field cannot have.
result<csv_schema> csv_schema_of(const element_type& row);
/// Makes the schema of a structure; the text gives the names in the file and the defaults of some members. Errors: also
/// if the structure has no such member, or a member of another type.
result<csv_schema> csv_schema_of(const element_type& row, std::string_view text);
/// Makes the schema of these columns, and the structure.
csv_schema csv_schema_of(std::vector<csv_column> columns);
/// Returns the text of the schema, from which csv_schema_of() makes the same columns.
std::string csv_schema_text(const csv_schema& schema);

}  // namespace sluice::lib
