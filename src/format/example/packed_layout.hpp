// SPDX-License-Identifier: Apache-2.0
// The places of the values of a schema in packed rows (packed_rows.hpp).
//
// A row begins with a fixed part, which has a place for each slot: the numbers themselves, if every example has the same
// number of them, else 8 bytes, which say where the slot's values begin in the row, and their number. Those values follow
// the fixed part, in the order in which they were found. So each column is built from the rows by a loop without a
// decision for each value.
// Thread: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sluice/format/example_schema.hpp"

namespace sluice::lib {

class packed_layout {
 public:
  enum class way : std::uint8_t {
    inside,  ///< the numbers are in the fixed part
    text,    ///< the bytes of one text; the number is that of the bytes
    values,  ///< numbers, or texts with 4 bytes for the size of each; or no value
  };
  struct place {
    std::uint32_t at = 0;     ///< in the fixed part
    std::uint32_t bytes = 0;  ///< inside: those of all numbers
    way how = way::values;
  };
  /// Where the values of a slot begin that is not `inside`.
  struct header {
    std::uint32_t at = 0;
    std::uint32_t count = 0;
  };
  /// The count of an optional without a value.
  static constexpr std::uint32_t kNoValue = ~std::uint32_t{0};

  /// REQUIRES: the schema has no parts.
  explicit packed_layout(const example_schema& schema);

  const place& operator[](std::size_t slot) const { return places_[slot]; }
  std::size_t slots() const { return places_.size(); }
  std::size_t fixed_bytes() const { return fixed_bytes_; }

 private:
  std::vector<place> places_;
  std::size_t fixed_bytes_ = 0;
};

}  // namespace sluice::lib
