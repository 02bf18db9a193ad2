// SPDX-License-Identifier: Apache-2.0
// A source apart from read.cpp: make_node() refers to these errors, and programs without expressions do not link the
// parser.
#include "absl/strings/str_cat.h"
#include "sluice/expr/expression.hpp"

namespace sluice::lib {

expression_error::expression_error(std::size_t column, std::string_view message)
    : error(invalid_argument_error(absl::StrCat("column ", column, ": ", std::string(message)))),
      column_(column),
      message_(message) {}

}  // namespace sluice::lib
