// SPDX-License-Identifier: Apache-2.0
// node_history: where a node of a rewritten plan comes from.
//
// A rule that removes a node adds it to the node upstream of it. So the run writes the records of the removed stage into
// positions, and reports its counts (docs/internals/decisions/rewritten_plans.md).
// Thread: immutable.
#pragma once

#include <string_view>
#include <vector>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

struct in_force;  // optimizer/rule.hpp

struct node_history {
  std::vector<std::string_view> rules;  ///< the names of the rules that have produced the node, each once, first first
  /// The nodes that were removed directly downstream of this one, the most upstream first. Each yields the elements of
  /// this node, one for each. Only operator, arguments and site of these nodes are used.
  std::vector<node_ptr> removed;
  /// Nodes that stood directly downstream of this one in the plan as written, where each of them yielded one element for
  /// each of this node, and that work elsewhere now. They report the counts of this node.
  std::vector<node_ptr> counted;
  bool is_counted_elsewhere = false;  ///< this node is in such a list
  /// The functions of this node and of its input are computed in one pass (engine/lowering/fused_stage.hpp).
  bool joins_input = false;
  /// The node as it was written, without inputs, if its function has another text now: names the stage in errors and
  /// reports. Null: the node has the function that was written.
  node_ptr written{};
  /// The node is a filter by the numbers of its elements, which finds those that it keeps before its source reads them.
  bool selects_by_number = false;
  /// The node is a filter directly after a source, and drops these elements of it, which the source skips.
  std::vector<element_run> excluded{};
  /// The node is a source, and its consumer is such a filter: elements that need not be read ahead.
  std::vector<element_run> unread{};
  /// A shuffle: while its buffer empties, it fills that of the next epoch of the repeat downstream. A repeat: such a
  /// shuffle is upstream.
  bool overlaps_epochs = false;
  /// The node has the bounds of one split: the numbers, or the list of names. Rules must not read them, except whether names
  /// are remote, because the splits of one shape share an optimized form (splits/split_bounds.hpp).
  bool is_split_bound = false;
  /// The node sends its input elsewhere (optimizer/sent_rules.hpp): the settings for the rules there. Null: none runs there.
  std::shared_ptr<const in_force> sends{};
};

}  // namespace sluice::lib
