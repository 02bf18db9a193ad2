// SPDX-License-Identifier: Apache-2.0
// Plans as text: the same words as in C++, and how the command line takes them.
//
//   node_ptr n = parse_plan("range(5) | shuffle(10, seed=7)  # a comment");
//   plan_text(*n)                                          // range(5) | shuffle(10, seed=7)
//
//   plan := call { "|" call }      call := name [ "(" [ arg { "," arg } ] ")" ]
//   arg  := [ name "=" ] value                             comment := "#" to the end of the line
//   value := number | string | plan | "[" [ value { "," value } ] "]" | "{" [ key "=" value { "," … } ] "}"
//   key  := name | string
//
// Numbers may have a unit (64MiB) and separators (10'000). Strings stand in double quotes, with \" \\ \n \t \r \xHH.
// The inputs of a combine come first, then what is required, then options by name. A bare word is a value, a function or a
// plan, as its place wants: interleave(tfrecord | take(3)). Brackets hold lists; braces hold maps and structs. An optional
// value that is not there is `nothing`.
// Printing parses back to an equal plan, for all but lambdas, which print as <lambda>.
// Limits: kPlanBytesMax bytes; kPlanDepthMax stages below each other, and as many plans, lists and braces inside of each
// other. Costs: linear.
#pragma once

#include <string>
#include <string_view>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// A longer text is refused, as text and as JSON. Plans that people and services write have some kilobytes.
inline constexpr std::size_t kPlanBytesMax = 16 << 20;

/// What is wrong with a plan's text, and where.
class plan_error : public error {
 public:
  plan_error(std::size_t column, std::string_view message);
  /// In characters (of UTF-8) from the text's begin, over all its lines, counted from 1; at most one past its end.
  std::size_t column() const noexcept { return column_; }

 private:
  std::size_t column_;
};

/// Errors: plan_error: "column 17: shufle: no such stage; did you mean shuffle?"
node_ptr parse_plan(std::string_view text);
/// Never fails; see serialisable().
std::string plan_text(const node& n);
/// One stage, without its input: "shuffle(10, seed=7)".
std::string stage_text(const node& n);
/// Ok, or failed_precondition naming the stage that holds a lambda or data of the program.
status serialisable(const node& n);

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::parse_plan;
using lib::plan_error;
using lib::plan_text;
using lib::serialisable;
using lib::stage_text;

}  // namespace sluice
