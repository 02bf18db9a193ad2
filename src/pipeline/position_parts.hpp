// SPDX-License-Identifier: Apache-2.0
// The records of a position (coro/position.hpp), for reshard() and `sluice checkpoint show`.
#pragma once

#include <string>
#include <vector>

#include "coro/positions/position_records.hpp"

namespace sluice::lib {

struct position_part {
  std::string bytes;       ///< the whole record
  position_record record;  ///< `saved` refers to the position
};

/// Errors: throws data_loss. REQUIRES: `position` outlives the result.
std::vector<position_part> parts_of_position(std::string_view position);
struct written_record {
  std::uint32_t site = 0;
  std::uint32_t version = 0;
  std::uint64_t ordinal = 0;
  std::uint64_t to_pass = 0;
  std::string saved;
};
/// Appends a record to a position. REQUIRES: to_pass <= ordinal.
void append_record(const written_record& r, std::string& position);

}  // namespace sluice::lib
