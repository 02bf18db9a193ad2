// SPDX-License-Identifier: Apache-2.0
// Plans and expressions as they are where files have other paths.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sluice/plan/node.hpp"
#include "sluice/runtime/input_rules.hpp"

namespace sluice::lib {

/// Returns the expression with each text in quotes changed by `change`, which also receives the part between the text
/// before and this one. Escapes stay as they are spelled.
std::string expression_with_texts(
    std::string_view expression,
    const std::function<std::string(std::string_view before, std::string_view text)>& change);

/// Changes each text in quotes that is a path in a new folder: `read_file("/new/" + name)`.
std::string expression_before(const path_rebases& moves, std::string_view expression);

/// How changed_plan_text() prints the arguments `path` and `pattern`, and expressions.
struct text_changes {
  std::string (*path)(std::string_view);
  std::string (*expression)(std::string_view);
};
/// Returns the text of the plan with these changes, also in plans within it.
std::string changed_plan_text(const node& n, const text_changes& changes);

}  // namespace sluice::lib
