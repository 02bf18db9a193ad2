// SPDX-License-Identifier: Apache-2.0
// Facts: what rewrites, the tuner, and reports may rely on, without the names of operators.
//
//   stage_facts f = facts_of(*n);                        // of one node: its operator's facts, and those of its functions
//   if (f.forwards && f.keeps_order && !f.has_effects) …
//
// An operator states its facts in `op_info::facts`. A function states its own: an expression derives them from its
// text, and a C++ function may declare them (fn() in plan/function.hpp). The defaults of outputs, forwards,
// keeps_order, may_fail, uses_place and has_record are cautious: rewrites never move an operator that states nothing. An operator
// must itself state draws, is_live, has_effects and is_concurrent if its own stage draws, is live, has effects or must
// not be called concurrently; their defaults assume that it does not. The defaults of function_facts are all cautious.
// tests/runners/facts_test.cpp compares the facts with what the plans of all rows yield.
// Thread: immutable.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sluice/base/shared_ref.hpp"

namespace sluice::lib {

struct node;
struct cardinality;
struct dataset_options;
struct member_comparison;  // plan/member_comparison.hpp

/// The number of output elements per input element. Elements that the policy of the run drops are not considered.
/// facts_of() considers those that the plan itself drops (on_error=skip).
enum class output_count : std::uint8_t {
  any,                    ///< no rule
  one_per_input,          ///< exactly one
  at_most_one_per_input,  ///< an input may yield nothing
  one_per_group,          ///< one for a group of consecutive inputs; groups may overlap
};

/// The use that a stage makes of its input's members. If a stage downstream reads only some members, those upstream
/// need not build the others (the rule prune_columns).
enum class member_use : std::uint8_t {
  whole,     ///< any member may be in an output or in a position, or decide what the stage does
  read,      ///< nothing of an input is in an output but what the functions of the stage read (map, group_by)
  passed,    ///< outputs are input elements or their rows; only the functions look at members; positions contain none
  stacked,   ///< as passed, but outputs are batches, which fail at members whose values do not stack
  of_inner,  ///< outputs are the elements of the stage's inner plans, unchanged (interleave)
};

/// Consecutive elements of a source.
struct element_run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool operator==(const element_run&) const = default;
};

/// The names of members of an element, or the whole element.
class names_read {
 public:
  /// The whole element.
  names_read() noexcept = default;
  /// REQUIRES: sorted.
  explicit names_read(std::vector<std::string> names);
  static names_read none();

  bool is_all() const noexcept { return list_.get() == nullptr; }
  /// Returns the names, sorted. REQUIRES: !is_all().
  const std::vector<std::string>& names() const;
  /// Adds the other names.
  void add(const names_read& other);

 private:
  struct list;
  shared_ref<const list> list_;  ///< null: the whole element
};

/// Facts about the calls of a function.
struct function_facts {
  bool concurrent = false;  ///< several threads may call it at the same time
  bool pure = false;        ///< a call has no side effects, and its result depends on its arguments only
  bool may_fail = true;     ///< a call may throw or return an error
};

/// Facts about the output of one stage. A stage that exceeds the memory budget has not failed in this sense.
struct stage_facts {
  output_count outputs = output_count::any;
  bool forwards = false;      ///< each output is an element of an input, unchanged
  bool keeps_order = false;   ///< outputs are in the order of the inputs that they come from
  bool draws = false;         ///< uses random numbers
  bool may_fail = true;       ///< the stage itself may report an error at an element
  bool uses_place = true;     ///< an output may depend on earlier inputs, or on their number
  bool is_live = false;       ///< another run, or a slower consumer, may see other elements or another order
  bool skips_inputs = false;  ///< some inputs are never made, so no stage upstream may work ahead at them (shard)
  bool has_effects = false;   ///< anything beside its elements is observable: printed, counted, sent
  /// Positions contain a record of the stage. False: its position is that of its input, unless it drops bad elements.
  bool has_record = true;
  /// Several threads may call all functions of the stage at the same time. True for a stage without functions.
  bool is_concurrent = true;
};

/// The facts that an operator states.
struct op_facts {
  /// Facts of every node, without its functions and inner plans. facts_of() adds theirs.
  stage_facts always = {};
  /// Corrects the facts of one node by its arguments. Null: nothing to correct.
  void (*refine)(const node&, stage_facts& facts) = nullptr;
  cardinality (*size)(const node&) = nullptr;  ///< the number of outputs; null: unknown
  cardinality (*rows)(const node&) = nullptr;  ///< the number of rows in all its batches; null: unknown
  /// Returns true if the stage skips any number of elements at a cost that does not depend on that number, provided
  /// that its inputs do. `size` is then exact. Null: never. See why_not_seekable().
  bool (*seeks)(const node&) = nullptr;
  member_use members = member_use::whole;
  /// Returns elements of a source of which none satisfies all of these comparisons, as far as the source knows without
  /// reading them: ascending, apart from each other. If they were read, none would have an error, except that their bytes
  /// may be damaged. Null: it knows nothing.
  std::vector<element_run> (*excluded)(const node&, std::span<const member_comparison>) = nullptr;
  bool opens_input_again = false;  ///< the stage opens its input more than once in a run (repeat)
  /// In each epoch of a repeat downstream the stage yields the elements of the first one (cache).
  bool freezes_epochs = false;
  /// The operator has no stage that could fail, and sets the policy of the stages upstream (ignore_errors): an
  /// `on_error` in its own call is rejected.
  bool sets_error_policy = false;
  /// The stages upstream run elsewhere, or in parts: the optimizer leaves them as written (distribute).
  bool sends_input = false;
  /// Options for the stages upstream (engine/dataset_options.hpp). Null: none.
  const dataset_options& (*options)(const node&) = nullptr;
};

/// The facts of a node: those of its operator, joined with those of its functions and inner plans. Under on_error=skip,
/// a stage that may fail and yields one output per input is reported as yielding at most one. The policy of the run is
/// not known here.
stage_facts facts_of(const node& n);
/// The members of the input element that the functions of the stage read.
names_read members_read_by(const node& n);
/// One line, for `sluice explain --facts`: "one per input, keeps order, may fail, reads label".
std::string facts_text(const node& n);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::function_facts;

}  // namespace sluice
