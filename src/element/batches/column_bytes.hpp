// SPDX-License-Identifier: Apache-2.0
// Rows of a column as bytes. Long arrays are views, and are not copied.
//
//   byte_parts bytes;
//   write_rows(rows, 0, rows.rows(), bytes);
//   batch_storage read;
//   status why = read_rows(bytes.joined(), n, read.make_rows(row_type));     // n: the number of rows that were written
//
// Shape:  Values are their bytes, little-endian. Texts and lists are a length of 32 bits for each row, then the bytes, or
//         the items of all lists. Arrays are their items. Optionals are a bit for each row, then a value for each row.
//         Structures, pairs and tuples are the columns of their members.
// Errors: reading: data_loss: bytes are damaged, missing or superfluous; resource_exhausted: a column would exceed its
//         limits.
// Limits: nothing is allocated for a length that exceeds the rest of the bytes.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/byte_parts.hpp"
#include "sluice/base/result.hpp"
#include "sluice/element/column.hpp"

namespace sluice::lib {

/// Returns true if columns of this type can be written, read, and copied without copies of C++ objects.
bool can_write_rows(const element_type& t);
/// Returns the number of bytes that write_rows() appends.
std::size_t written_bytes(const column& rows, std::size_t first, std::size_t n);
/// Appends the rows [first, first + n). Long arrays are views of the column. REQUIRES: can_write_rows(rows.type()).
void write_rows(const column& rows, std::size_t first, std::size_t n, byte_parts& out);
/// Appends n rows. After an error `to` has incomplete rows, and must be dropped. REQUIRES: `to` is empty, and
/// can_write_rows(to.type()).
status read_rows(std::string_view bytes, std::size_t n, column& to);

}  // namespace sluice::lib
