// SPDX-License-Identifier: Apache-2.0
// The columns of readers whose files have an Arrow schema: from_arrow and parquet.
//
//   from_arrow("a.arrow", schema="text: string, label: int64?")        // the wanted columns, by name
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sluice/element/type.hpp"

namespace sluice::lib {

/// The wanted columns: written as text, or those of a structure of the program, which prints as text. If neither is
/// given, the columns are those of the file, which is opened when the plan is built.
struct arrow_schema_arg {
  std::string value{};
  const element_type* row = nullptr;  ///< null: built from the text
  /// The footer that the reader parsed when the plan was built. Never printed, compared or hashed.
  std::shared_ptr<const void> found{};
  arrow_schema_arg() = default;
  arrow_schema_arg(std::string text) : value(std::move(text)) {}  // NOLINT: a schema is written as a text
  /// `stage`: for errors. Errors: throws invalid_argument: the type has no form in Arrow.
  arrow_schema_arg(const element_type& t, std::string_view stage);
  bool is_given() const { return row || !value.empty(); }
};

}  // namespace sluice::lib
