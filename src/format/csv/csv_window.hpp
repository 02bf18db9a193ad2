// SPDX-License-Identifier: Apache-2.0
// The bytes that csv_parser reads, with the places of their signs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "format/csv/csv_parser.hpp"

namespace sluice::lib {

inline bool is_csv_line_end(char c) { return c == '\n' || c == '\r'; }

/// A window with its tape.
struct csv_parser::window_view {
  std::string_view bytes;
  const std::uint32_t* entries;
  std::size_t entry_count;
  std::uint32_t shift;
  std::size_t indexed;  ///< the number of bytes in the tape
  bool is_all;          ///< the file ends with the indexed bytes

  std::size_t at(std::size_t entry) const { return entries[entry] - shift; }
  char sign(std::size_t entry) const { return bytes[at(entry)]; }
};

}  // namespace sluice::lib
