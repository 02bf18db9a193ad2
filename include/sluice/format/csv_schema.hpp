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
// A member is a name, or any text in "…"; in the file's header it is called the same, unless the text says another:
// `length = 'Sepal Length': float`. `?`: a field that is empty, or not available, is no value. A default is the value of such a
// field; without either the field has to be there. An empty field in quotes is such a one, too, except in a column of bytes without
// a default, where it is the empty text. Texts stand in '…', with \\ \' \n \t \xHH.
// A structure of the program has the columns that its members are: numbers, bools, std::string, and std::optional of these.
// Errors: invalid_argument, with the column of the text (from 1).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/result.hpp"
#include "sluice/element/dtype.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

struct csv_column {
  std::string member{};          ///< in the structure
  std::string name{};            ///< in the file's header
  dtype values = dtype::string;  ///< no float16, no bfloat16
  bool is_optional = false;
  std::size_t offset = 0;                  ///< of the member
  std::optional<std::string> otherwise{};  ///< the default, as a field spells it
};

struct csv_schema {
  const element_type* row = nullptr;
  std::vector<csv_column> columns{};
};

result<csv_schema> csv_schema_of(std::string_view text);
/// Of a structure. Errors: also a member that no field can be.
result<csv_schema> csv_schema_of(const element_type& row);
/// Of a structure, but for the members that the text names: their names in the file, and defaults. Errors: also where it has no
/// such member, or one of another type.
result<csv_schema> csv_schema_of(const element_type& row, std::string_view text);
/// Of columns: makes the structure.
csv_schema csv_schema_of(std::vector<csv_column> columns);
/// Reads back to the same columns.
std::string csv_schema_text(const csv_schema& schema);

}  // namespace sluice::lib
