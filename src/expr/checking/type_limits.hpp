// SPDX-License-Identifier: Apache-2.0
// Types that an expression makes are bounded: one that contains each of two others twice grows with a power of two in the length of
// the text. Types in messages are cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "expr/tree.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib::expressions {

/// The beginning of a long text, up to a whole character, and an ellipsis.
std::string cut(std::string_view text, std::size_t most = 200);
/// The type's name, for messages.
inline std::string shown(const element_type& t) { return cut(t.name); }
/// The expression, for messages.
inline std::string shown(const expression_tree& e) { return cut(printed(e)); }

/// Called before a type is built from the types `parts`. `names`: the bytes that its text has in addition to theirs.
/// Returns a description of the exceeded limit, or an empty text.
std::string type_mistake(const std::vector<const element_type*>& parts, std::size_t names);

}  // namespace sluice::lib::expressions
