// SPDX-License-Identifier: Apache-2.0
// Limits the size of the types that an expression makes. A type that contains each of two others twice would grow
// exponentially with the length of the text. Types in messages are truncated.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "expr/tree.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib::expressions {

/// Returns the beginning of a long text, up to a whole character, and an ellipsis.
std::string cut(std::string_view text, std::size_t most = 200);
/// Returns the type's name, for messages.
inline std::string shown(const element_type& t) { return cut(t.name); }
/// Returns the expression, for messages.
inline std::string shown(const expression_tree& e) { return cut(printed(e)); }
/// Returns the expression as the subject of a sentence: the element, `it`, stands in backticks.
inline std::string subject(const expression_tree& e) {
  return e.kind == expression_tree::name && e.text == "it" ? "`it`" : shown(e);
}

/// Called before a type is built from the types `parts`. `names`: the bytes that its text has in addition to theirs.
/// Returns a description of the exceeded limit, or an empty text.
std::string type_mistake(const std::vector<const element_type*>& parts, std::size_t names);

}  // namespace sluice::lib::expressions
