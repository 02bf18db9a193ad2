// SPDX-License-Identifier: Apache-2.0
// A plan that lacks its input, as an argument of an operator that supplies the elements:
//
//   samples | group_by_window(key, take(2) | batch(2), 5)      // runs take(2) | batch(2) over each group
//
// Its source is a node that represents those elements. Plan text and JSON omit that node: text has `reduce=take(2) |
// batch(2)`, and JSON a call without inputs. So a plan that uses the elements in another way, for example twice in a
// zip, is only possible in C++.
// Thread: immutable.
#pragma once

#include <string_view>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

struct stage_plan {
  node_ptr plan{};
  /// The stages from plan text, until the elements' type is known: an unbound_function.
  function_ptr unread{};
};

/// The operator of the source. Plan text has no operator of this name.
inline constexpr std::string_view kGivenElements = "<elements>";
inline bool is_given(const node& n) { return n.op->name == kGivenElements; }
/// The source of a stage_plan over elements of this type. Defined in engine/data/given_elements.cpp.
node_ptr given_elements(const element_type& type);

}  // namespace sluice::lib
