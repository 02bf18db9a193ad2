// SPDX-License-Identifier: Apache-2.0
// The columns of a table as an argument of an operator: of csv and sql.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sluice/base/reflect.hpp"
#include "sluice/base/result.hpp"
#include "sluice/base/shared_ref.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

struct csv_schema;  // format/csv_schema.hpp

/// The columns: written as text (format/csv_schema.hpp), or those of a structure of the program, which prints as text.
/// If neither is given, the columns of the table, which is opened when the plan is built.
struct column_schema_arg {
  std::string value{};
  shared_ref<const csv_schema> schema{};  ///< null: made from the text
  column_schema_arg() = default;
  column_schema_arg(std::string text) : value(std::move(text)) {}  // NOLINT: a schema is written as a text
  /// `op`: the operator's name, for errors. Errors: throws invalid_argument.
  column_schema_arg(result<csv_schema> s, std::string_view op);
  bool is_said() const noexcept { return schema || !value.empty(); }
  /// REQUIRES: is_said(). Errors: those of the text.
  result<csv_schema> columns() const;
};

namespace detail {

template <class T> inline constexpr bool is_csv_value = std::is_arithmetic_v<T> || std::is_same_v<T, std::string>;
template <class T> inline constexpr bool is_csv_value<std::optional<T>> = is_csv_value<T>;

template <class T> constexpr bool is_csv_row() {
  if constexpr (!reflectable<T>) return false;
  else
    return []<class... M>(std::tuple<M*...>*) {
      return (is_csv_value<std::remove_cv_t<M>> && ...);
    }(static_cast<member_pointers<T>*>(nullptr));
}

column_schema_arg columns_of(const element_type& row, std::string_view schema, std::string_view op);

template <class T> column_schema_arg columns_of(std::string_view schema, std::string_view op) {
  static_assert(is_csv_row<T>(),
                "sluice: a row of a table is a struct of numbers, bools, std::string, and std::optional of these");
  return columns_of(type_of<T>(), schema, op);
}

}  // namespace detail

}  // namespace sluice::lib
