// SPDX-License-Identifier: Apache-2.0
// A plan that lacks its input, as an argument of an operator that gives it elements of its own:
//
//   samples | group_by_window(key, take(2) | batch(2), 5)      // take(2) | batch(2) is run over each group
//
// Its source is a node that stands for those elements. In plan text and JSON that node is not written: text has
// `reduce=take(2) | batch(2)`, and JSON a call without inputs. So a plan that uses the elements otherwise, twice in a zip
// for instance, can be made in C++ only.
// Thread: immutable.
#pragma once

#include <string_view>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

struct stage_plan {
  node_ptr plan{};
  function_ptr unread{};  ///< of text: the stages, until the elements' type is known; an unbound_function
};

/// The operator of the source. No operator that plan text knows has such a name.
inline constexpr std::string_view kGivenElements = "<elements>";
inline bool is_given(const node& n) { return n.op->name == kGivenElements; }
/// The source of a stage_plan over elements of this type. Defined in engine/data/given_elements.cpp.
node_ptr given_elements(const element_type& type);

}  // namespace sluice::lib
