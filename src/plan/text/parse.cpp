// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/strings/str_cat.h"
#include "plan/text/other_words.hpp"
#include "plan/text/plan_builder.hpp"
#include "plan/text/syntax.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {

namespace {

/// Returns the text before a column, which counts characters from 1.
std::string_view text_before(std::string_view text, std::size_t column) {
  std::size_t at = 0;
  for (; at != text.size(); ++at) {
    const bool begins_character = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    if (begins_character && --column == 0) break;
  }
  return text.substr(0, at);
}

}  // namespace

plan_error::plan_error(std::size_t column, std::string_view message, status file_error)
    : error(status(file_error.ok() ? status_code::invalid_argument : file_error.code(),
                   absl::StrCat("column ", column, ": ", std::string(message)))),
      column_(column),
      file_error_(std::move(file_error)) {}

node_ptr parse_plan(std::string_view text) {
  plan_syntax calls = detail::read_syntax(text);
  try {
    return detail::build_plan(calls, false);
  } catch (const misplaced& e) {
    throw plan_error(e.at, detail::with_plan(e.what, text_before(text, e.at)), e.file_error);
  }
}

}  // namespace sluice::lib
