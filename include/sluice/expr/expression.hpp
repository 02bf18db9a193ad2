// SPDX-License-Identifier: Apache-2.0
// Expressions: functions of one element that a plan contains as text, in place of a C++ function.
//
//   range(10) | filter(it % 2 == 0) | map(it * it + 1)                                  // plan text
//   rows | filter(expr("label != 0 && length(text) > 10")) | map(expr<double>("mean(values)"))    // C++
//
// `it` is the element, and a bare name one of its fields. docs/expressions.md describes the language: literals, fields,
// indexes and slices, {structs}, (tuples), arithmetic and comparison with C++'s types, && || !, if(c, a, b), let(x = a,
// b), built-in functions, and every registered function by its name. The language has no loops, and nothing waits.
// Types are checked when the plan is built, and errors contain the column of the text.
// Errors of elements: overflow of integers, division by zero, an index out of range and failing functions are errors of
// the element, like an exception of a C++ function. Floating point follows IEEE 754.
// Limits: text: kExpressionBytesMax, kExpressionNodesMax, kExpressionDepthMax. Types that it makes:
//         kExpressionTypeNodesMax, kExpressionTypeBytesMax, kTypeDepthMax, kTypeTextBytesMax (element/type_text.hpp).
//         Values: kExpressionValueBytesMax, kExpressionElementBytesMax.
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
/// Limits the types within a type that an expression makes, counting repetitions, and the type itself.
inline constexpr std::size_t kExpressionTypeNodesMax = 4096;
/// Limits one value of such a type, without the memory that it owns.
inline constexpr std::size_t kExpressionTypeBytesMax = std::size_t{16} << 20;
/// Limits one text, list or structure that an expression makes, with the memory that it owns.
inline constexpr std::size_t kExpressionValueBytesMax = std::size_t{64} << 20;
/// Limits all values that exist at the same time while an element is computed, including those of registered functions
/// and tensors.
inline constexpr std::size_t kExpressionElementBytesMax = std::size_t{1} << 30;

/// A mistake in an expression, with its place.
class expression_error : public error {
 public:
  /// `column`: in the plan's text, or in the expression's if it is parsed alone.
  expression_error(std::size_t column, std::string_view message);
  std::size_t column() const noexcept { return column_; }
  /// The message without the column.
  const std::string& message() const noexcept { return message_; }

 private:
  std::size_t column_;
  std::string message_;
};

struct expression_tree;

/// An expression that has been parsed, and whose types are unknown yet.
class expression {
 public:
  /// Errors: throws expression_error.
  explicit expression(std::string_view text) : expression(text, 1) {}
  /// `column`: the column of the text's first character, for messages.
  expression(std::string_view text, std::size_t column);

  /// The printed form: equal for texts that differ only in spaces and needless parentheses.
  const std::string& text() const noexcept { return text_; }
  const expression_tree& tree() const noexcept { return *tree_; }

 private:
  std::string text_;
  shared_ref<const expression_tree> tree_;
};

inline bool operator==(const expression& a, const expression& b) { return a.text() == b.text(); }

}  // namespace sluice::lib
