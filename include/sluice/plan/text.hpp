// SPDX-License-Identifier: Apache-2.0
// Plans as text, with the same names as in C++; the command line reads them.
//
//   node_ptr n = parse_plan("range(5) | shuffle(10, seed=7)  # a comment");
//   plan_text(*n)                                          // range(5) | shuffle(10, seed=7)
//
//   plan := call { "|" call }      call := name [ "(" [ arg { "," arg } ] ")" ]
//   arg  := [ name "=" ] value                             comment := "#" to the end of the line
//   value := number | string | plan | "[" [ value { "," value } ] "]" | "{" [ key "=" value { "," … } ] "}"
//   key  := name | string
//
// Numbers may have a unit (64MiB) and separators (10'000). Strings are in double quotes, with \" \\ \n \t \r \xHH. A
// call is printed with the inputs of a combine first, then the required arguments, then options by name. Named
// arguments are accepted at any place in the parentheses. The others are the inputs and the required arguments, in that
// order, so zip(on_error=skip, a, b) is zip(a, b, on_error=skip). A bare word is a value, a function or a plan,
// depending on the type of the argument: interleave(tfrecord | take(3)). Brackets enclose lists; braces enclose maps
// and structs. An optional value that is not set is `nothing`. The text of a plan parses back to an equal plan, unless
// it contains lambdas, which print as <lambda>.
// Limits: kPlanBytesMax bytes; chains of kPlanDepthMax operators, and the same number of nested levels of plans, lists
//         and braces.
// Cost:   linear in the length of the text.
#pragma once

#include <string>
#include <string_view>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Longer texts and JSON are rejected; usual plans have some kilobytes.
inline constexpr std::size_t kPlanBytesMax = 16 << 20;

/// A mistake in the text of a plan, or an error of a file that is read to build it, with the place in the text.
class plan_error : public error {
 public:
  plan_error(std::size_t column, std::string_view message, status file_error = {});
  /// The position of the character (of UTF-8) in the text, counted over all lines, from 1; at most one past the end.
  std::size_t column() const noexcept { return column_; }
  /// Ok: the text is wrong. Otherwise the text is right, and a file could not be read from which a source infers its
  /// columns: not_found, unavailable, data_loss …; code() is the same.
  const status& file_error() const noexcept { return file_error_; }

 private:
  std::size_t column_;
  status file_error_;
};

/// Errors: throws plan_error: "column 17: shufle: no such operator; did you mean shuffle?"
node_ptr parse_plan(std::string_view text);
/// Returns the text of any plan, even of one that cannot be parsed again (serialisable()).
std::string plan_text(const node& n);
/// The text of one node without its input: "shuffle(10, seed=7)".
std::string stage_text(const node& n);
/// Returns ok if the text parses back to an equal plan; otherwise failed_precondition with the operator that has a
/// lambda or elements in memory as an argument.
status serialisable(const node& n);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::parse_plan;
using lib::plan_error;
using lib::plan_text;
using lib::serialisable;
using lib::stage_text;

}  // namespace sluice
