// SPDX-License-Identifier: Apache-2.0
#include "expr/other_operators.hpp"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace sluice::lib::expressions {
namespace {

struct other_operator {
  std::string_view word, instead;
};
constexpr other_operator kOperators[] = {
    {"=", "== compares"},
    {"and", "write &&"},
    {"or", "write ||"},
    {"is", "write x == none and x != none, which test whether a value is missing"},
    {"like", "write contains(x, \"text\"), starts_with(x, \"text\") or ends_with(x, \"text\")"},
    {"ilike", "write contains(lower(x), \"text\")"},
    {"in", "write contains([1, 2, 3], x)"},
    {"between", "write x >= a && x <= b"},
    {"div", "write /, which truncates for integers"},
    {"mod", "write %"},
    {"if", "write if(condition, a, b)"},
    {"as", "write {name: x}, which names a value"}};

}  // namespace

std::string instead_of_operator(std::string_view word) {
  for (const other_operator& o : kOperators)
    if (absl::EqualsIgnoreCase(absl::string_view(word.data(), word.size()),
                               absl::string_view(o.word.data(), o.word.size())))
      return absl::StrCat(" (", std::string(o.instead), ")");
  return {};
}

}  // namespace sluice::lib::expressions
