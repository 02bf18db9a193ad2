// SPDX-License-Identifier: Apache-2.0
// split_rule: how an operator behaves when its plan is split among workers (splits/split_plan.hpp).
//
//   .splits = {.rule = split_rule::each_element},      // in its op_info
//
// A split is a part of a plan's elements, described by a plan of its own. A plan that seeks (why_not_seekable) is split by
// numbers of elements, whatever the rules of its operators are: every stage then has the elements, numbers and draws of
// the whole plan. The rules apply to all other plans. docs/splits.md has the table of all operators.
// Thread: immutable.
#pragma once

#include <cstdint>

namespace sluice::lib {

struct node;

enum class split_rule : std::uint8_t {
  /// Nothing is known: a source cannot be split, and a stage runs in the client.
  unstated,

  // Sources.
  numbered,      ///< element i is made without those before it: ranges of numbers
  listing,       ///< the names of what a stage downstream opens: read once, when the plan is split
  one_file,      ///< the elements of one file: the file, or ranges of its elements (op_splits::skips_in_file)
  one_split,     ///< all elements belong to one split
  this_process,  ///< the elements exist in this process only: no split

  // Stages.
  each_element,  ///< a part of the input yields that part of the output, in the order of that part
  groups,        ///< a state spans splits (a buffer, a batch): in the client; with at_least_once, on workers, by split
  all_before,    ///< an output depends on all inputs before it (their number, a state): in the client
  repeats,       ///< opens its input again: each epoch has splits of its own
  settings,      ///< changes stages upstream: a copy of it ends the plan of each worker

  // Stages with several inputs.
  one_after_another,  ///< the splits of the first input, then those of the next
  together,           ///< elements of all inputs meet: in the client
};

/// The way in which a distributed plan is divided among workers.
enum class sharding : std::uint8_t {
  off,           ///< not at all: each worker runs the whole plan
  dynamic,       ///< into splits, which idle workers take
  file,          ///< worker i of n reads files i, i + n, i + 2n …
  data,          ///< worker i of n yields elements i, i + n, i + 2n …, and makes the others, too
  file_or_data,  ///< file, or data if the plan reads no files
  hint,          ///< worker i of n takes what shard(hint, hint) in the plan selects
};

/// How often the elements of a split may be delivered. split_plan decides by it which stages run on workers.
enum class visitation : std::uint8_t {
  exactly_once,   ///< the splits must be deterministic, so that a split that starts again continues exactly
  at_most_once,   ///< stages may deliver in sloppy order
  at_least_once,  ///< as at_most_once, and groups (batch, shuffle, window …) are those of a split, as in tf.data
};

/// The splitting that an operator states.
struct op_splits {
  split_rule rule = split_rule::unstated;
  /// For `together`: the number of inputs, at the end, that the client reads itself (a selector).
  std::uint8_t local_inputs = 0;
  /// For `one_file`: returns true if a run skips any number of the file's elements without reading them. Null: never.
  bool (*skips_in_file)(const node&) = nullptr;
};

}  // namespace sluice::lib
