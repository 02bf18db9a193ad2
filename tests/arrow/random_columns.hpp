// SPDX-License-Identifier: Apache-2.0
// Random types of rows, and random rows of them: what Arrow's side and ours are compared by.
#pragma once

#include <cstdint>
#include <string>

#include "sluice/element/batched.hpp"

namespace sluice::lib::test {

class random_columns {
 public:
  explicit random_columns(std::uint64_t seed) : state_(seed * 2 + 1) {}

  std::size_t below(std::size_t n);
  /// A structure, a pair, a tuple, or anything else that is a column.
  const element_type& row_type();
  /// Appends n rows.
  void fill(column& c, std::size_t n);
  /// 0 to 70 rows, some of them gone in front.
  batch_storage batch(const element_type& row);

 private:
  const element_type* any_type(std::size_t depth);
  const element_type* some_struct(std::size_t depth);
  std::string text(bool is_utf8);

  std::uint64_t state_;
};

/// The batch as JSON.
std::string json_of(const batch_storage& b, const element_type& row);

}  // namespace sluice::lib::test
