// SPDX-License-Identifier: Apache-2.0
// Lists and optionals that are made of values of other types.
#pragma once

#include "expr/evaluation.hpp"

namespace sluice::lib::expressions {

/// The items of a list that is being converted, as a part.
computed_ptr list_items(const element_type& item);
/// A list, or an array of as many items, of what `item` makes of each of the items of `of`.
computed_ptr converted_list(const element_type& wanted, computed_ptr of, computed_ptr item);

/// An optional that has the value of `of`; of null one that has none.
computed_ptr made_optional(const element_type& optional, computed_ptr of);
/// An optional of what `item`, a part over list_items(), makes of the value of an optional, if that has one.
computed_ptr converted_optional(const element_type& wanted, computed_ptr of, computed_ptr item);
/// `none`, which becomes an optional of any type.
computed_ptr no_value();
bool is_no_value(const element_type& t);

}  // namespace sluice::lib::expressions
