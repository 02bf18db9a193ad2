// SPDX-License-Identifier: Apache-2.0
// Which bytes of a record batch reading it does not look at: the values of columns that nobody reads.
//
//   std::vector<byte_range> skipped = unread_in_batch(m.metadata, schema, columns);     // in the body
//
// A column that is only checked needs its validity and its offsets; every number is valid. Bodies with compressed buffers,
// unions, or columns that the metadata does not fit have no such ranges.
// Errors: none: reading the batch reports what is wrong with it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "arrow/ipc_reader.hpp"
#include "base/byte_range.hpp"

namespace sluice::lib::arrow {

/// The parts of a column that a reader looks at.
enum class column_use : std::uint8_t {
  all,
  validity_and_offsets,  ///< see needs_no_values() in import.hpp
  none
};

/// `columns`: of each column of the schema. Returns ranges of the body, in order.
std::vector<byte_range> unread_in_batch(std::string_view metadata, const ipc_schema& schema,
                                        std::span<const column_use> columns);

}  // namespace sluice::lib::arrow
