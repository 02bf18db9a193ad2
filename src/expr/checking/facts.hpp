// SPDX-License-Identifier: Apache-2.0
// Derives facts about an expression from its tree and its typed parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expr/evaluation.hpp"
#include "expr/tree.hpp"

namespace sluice::lib::expressions {

/// Returns true unless `c`, the typed part for `e`, yields a value for all values of its own parts. Cautious: true for
/// all that may overflow, has an index, builds a text or a list, or calls a function that is not known to succeed.
bool may_fail(const expression_tree& e, const computed& c);
/// Returns true if a value of the program that is built of this part needs no memory besides that of a copy of parts of
/// the element, and of numbers. The limits of values do not apply to it, unless another part reads it.
bool only_copies(const computed& c);
/// Returns true unless each value of `from` becomes one of `to` by a conversion of numbers without loss.
bool conversion_may_fail(const element_type& from, const element_type& to);
/// Returns the names of the members of `in`, or of the rows of a batch, that the expression reads, sorted; nullopt if it uses the
/// whole element.
std::optional<std::vector<std::string>> members_read(const expression_tree& e, const element_type& in);

}  // namespace sluice::lib::expressions
