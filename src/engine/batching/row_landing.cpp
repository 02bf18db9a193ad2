// SPDX-License-Identifier: Apache-2.0
#include "engine/batching/row_landing.hpp"

#include <algorithm>
#include <utility>

#include "sluice/engine/detail/element_functions.hpp"

namespace sluice::lib {

applied block_function::append_rows(const block&, column&, const element_place&) const {
  return {0, internal_error("this function appends no rows")};
}

namespace detail {

std::size_t rows_of(const column& rows) noexcept { return rows.rows(); }
void remove_rows(column& rows, std::size_t before) noexcept { rows.truncate(before); }

status check_appended_row(const column& rows, std::size_t before) {
  if (rows.rows() == before + 1 && rows.is_whole()) return {};
  return failed_precondition_error(
      "append_to() has to append one row of type " + rows.type().name +
      ": a value to each member's column, then append_row(); lists and optionals end with append_list() and "
      "append_valid() (element/column.hpp)");
}

}  // namespace detail

const element_type& landed_row_type() {
  static const element_type type = [] {
    element_type t = type_of<std::uint32_t>();
    t.name = "landed row";
    t.footprint = [](const element_type&, const void* p, std::size_t n) {
      std::size_t bytes = 0;
      for (std::size_t i = 0; i != n; ++i) bytes += static_cast<const landed_row*>(p)[i].bytes;
      return bytes;
    };
    return t;
  }();
  return type;
}

void built_row::sluice_destroy(built_row* rows, std::size_t n) {
  for (std::size_t i = 0; i != n; ++i) rows[i].~built_row();
}

void make_landed(std::uint64_t bytes, std::size_t n, char* to) {
  const auto each = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, ~std::uint32_t{0}));
  for (std::size_t i = 0; i != n; ++i) ::new (static_cast<void*>(to + i * sizeof(landed_row))) landed_row{each};
}

std::size_t built_row::sluice_footprint(const built_row* rows, std::size_t n) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i != n; ++i) bytes += rows[i].bytes;
  return bytes;
}

void make_receipts(std::unique_ptr<batch_storage> part, built_row* to) {
  const auto n = static_cast<std::size_t>(part->rows());
  const std::size_t each = std::min<std::size_t>(part->memory_bytes() / n, ~std::uint32_t{0});
  batch_storage* shared = part.release();
  for (std::size_t i = 0; i != n; ++i)
    ::new (static_cast<void*>(to + i))
        built_row(shared, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(each), i + 1 == n);
}

}  // namespace sluice::lib
