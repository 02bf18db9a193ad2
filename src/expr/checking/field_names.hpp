// SPDX-License-Identifier: Apache-2.0
// The fields of an element's type, as messages about expressions name them.
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sluice/element/type.hpp"

namespace sluice::lib::expressions {

/// Returns "id, `first name`": names that are no words stand in backticks.
std::string list_of_fields(const element_type& t);
/// Returns "person has id, `first name`".
std::string fields_of(const element_type& t);
std::vector<std::string> names_of(const element_type& t);
/// Returns "; did you mean `first name`?" for the field whose name is most similar; empty if no name is similar.
std::string similar_name(std::string_view word, const std::vector<std::string>& known);

}  // namespace sluice::lib::expressions
