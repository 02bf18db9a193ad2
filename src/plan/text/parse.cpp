// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/strings/str_cat.h"
#include "plan/text/plan_builder.hpp"
#include "plan/text/syntax.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {

plan_error::plan_error(std::size_t column, std::string_view message, status file_error)
    : error(status(file_error.ok() ? status_code::invalid_argument : file_error.code(),
                   absl::StrCat("column ", column, ": ", std::string(message)))),
      column_(column),
      file_error_(std::move(file_error)) {}

node_ptr parse_plan(std::string_view text) {
  plan_syntax calls = detail::read_syntax(text);
  try {
    return detail::build_plan(calls, false);
  } catch (const misplaced& e) { throw plan_error(e.at, e.what, e.file_error); }
}

}  // namespace sluice::lib
