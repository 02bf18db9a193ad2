// SPDX-License-Identifier: Apache-2.0
// Rows on a terminal: `sluice head` as a table, or as CSV.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/sinks/line_sink.hpp"

namespace sluice::lib::cli {

/// Collects elements, given as JSON, and prints them at the end, when the widths are known. Members of structures are
/// columns; other elements have one column, "value". Rows may have other columns than the rows before.
class row_table final : public line_receiver {
 public:
  enum form : std::uint8_t {
    table,  ///< in columns that fit the terminal; long values are shortened, and bytes and tensors are described
    csv,    ///< complete values; lists and structures as JSON
  };
  explicit row_table(form as) : form_(as) {}

  void add(const element_type& type, const void* element, std::string_view json) override;
  /// Prints the rows on standard output, and forgets them. A table says on standard error, if that is a terminal, what
  /// it does not show.
  void print();
  bool is_empty() const { return rows_.empty(); }

 private:
  struct cell {
    std::string text = {};  ///< empty: the row has no such column
    bool is_number = false;
  };
  void set(std::string_view name, cell value);
  cell table_cell(const element_type* type, const void* value, std::string_view json);
  /// Returns true if all values of the column are numbers.
  bool is_number(std::size_t column) const;
  std::vector<std::size_t> widths(std::size_t columns, std::size_t& shown) const;
  void print_table();
  void print_csv() const;

  const form form_;
  std::vector<std::string> names_{};
  absl::flat_hash_map<std::string, std::size_t> by_name_{};
  std::vector<std::vector<cell>> rows_{};
};

}  // namespace sluice::lib::cli
