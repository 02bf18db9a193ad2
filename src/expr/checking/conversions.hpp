// SPDX-License-Identifier: Apache-2.0
// Lists and optionals made from values of other types.
#pragma once

#include "expr/evaluation.hpp"

namespace sluice::lib::expressions {

/// The items of a list that is being converted, as a part.
computed_ptr list_items(const element_type& item);
/// Makes a list, or an array with the same number of items; `item` converts each of the items of `of`.
computed_ptr converted_list(const element_type& wanted, computed_ptr of, computed_ptr item);

/// Makes an optional with the value of `of`, or without a value if `of` is null.
computed_ptr made_optional(const element_type& optional, computed_ptr of);
/// Makes an optional; `item`, a part over list_items(), converts the value of the optional `of`, if it has one.
computed_ptr converted_optional(const element_type& wanted, computed_ptr of, computed_ptr item);
/// `none`, which becomes an optional of any type.
computed_ptr no_value();
bool is_no_value(const element_type& t);

}  // namespace sluice::lib::expressions
