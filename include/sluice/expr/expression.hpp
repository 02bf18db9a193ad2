// SPDX-License-Identifier: Apache-2.0
// Expressions: functions of one element that a plan carries as text, in place of a C++ function.
//
//   range(10) | filter(it % 2 == 0) | map(it * it + 1)                                  // plan text
//   rows | filter(expr("label != 0 && length(text) > 10")) | map(expr<double>("mean(values)"))    // C++
//
// `it` is the element, and a bare name one of its fields. docs/expressions.md has the language: literals, fields,
// indexes and slices, {structs}, (tuples), arithmetic and comparison with C++'s types, && || !, if(c, a, b),
// let(x = a, b), built-in functions, and every registered function by its name. There are no loops, and nothing waits.
// Types are checked when the plan is made, and errors point at the column of the text.
// Errors of elements: overflow of integers, division by zero, an index out of range and failing functions are errors of
//         the element, as an exception of a C++ function is. Floating point follows IEEE 754.
// Limits: of the text kExpressionBytesMax, kExpressionNodesMax, kExpressionDepthMax; of the types that it makes
//         kExpressionTypeNodesMax, kExpressionTypeBytesMax, kTypeDepthMax, kTypeTextBytesMax (element/type_text.hpp); of values
//         kExpressionValueBytesMax, kExpressionElementBytesMax.
// Thread: immutable; evaluated on several workers at once.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/base/shared_ref.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib {

inline constexpr std::size_t kExpressionBytesMax = 64 << 10;
inline constexpr std::size_t kExpressionNodesMax = 4096;
inline constexpr std::size_t kExpressionDepthMax = 128;
/// Types within a type that an expression makes, each as often as it stands there, and the type itself.
inline constexpr std::size_t kExpressionTypeNodesMax = 4096;
/// Of one value of such a type, without what it owns.
inline constexpr std::size_t kExpressionTypeBytesMax = std::size_t{16} << 20;
/// Of one text, list or structure that an expression makes, with what it owns.
inline constexpr std::size_t kExpressionValueBytesMax = std::size_t{64} << 20;
/// Of all values that are held at once while an element is computed, those of registered functions and tensors too.
inline constexpr std::size_t kExpressionElementBytesMax = std::size_t{1} << 30;

/// A mistake in an expression, with its place.
class expression_error : public error {
 public:
  /// `column`: of the plan's text, or of the expression's where it stands alone.
  expression_error(std::size_t column, std::string_view message);
  std::size_t column() const noexcept { return column_; }
  /// Without the column.
  const std::string& message() const noexcept { return message_; }

 private:
  std::size_t column_;
  std::string message_;
};

struct expression_tree;

/// An expression that has been read, and whose types are not known yet.
class expression {
 public:
  /// Errors: throws expression_error.
  explicit expression(std::string_view text) : expression(text, 1) {}
  /// `column`: of the text's first character, for messages.
  expression(std::string_view text, std::size_t column);

  /// As it is printed: the same for texts that differ in spaces and needless parentheses only.
  const std::string& text() const noexcept { return text_; }
  const expression_tree& tree() const noexcept { return *tree_; }

 private:
  std::string text_;
  shared_ref<const expression_tree> tree_;
};

inline bool operator==(const expression& a, const expression& b) { return a.text() == b.text(); }

}  // namespace sluice::lib
