// SPDX-License-Identifier: Apache-2.0
// Plans: immutable trees of nodes, each of which is one call of an operator. dataset<T> is a typed handle on a plan.
//
//   node_ptr n = make_stage(shuffle_op, arguments::of(shuffle_arguments{10, {.seed = 7}}), input);    // checked
//   plan_text(*n)                                                    // "range(5) | shuffle(10, seed=7)"
//
// A node may be an input of several plans, and have several runs at the same time.
// Sites:  each node has a *site*, a number that identifies it within its chain. Random draws and the records of
//         positions belong to sites, so rewrites of a plan must keep them: copy a node, change the copy, and pass it to
//         make_node(), which keeps the site.
// Errors: functions that make nodes throw `error` with invalid_argument; the message starts with the operator's name.
// Thread: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sluice/base/error_policy.hpp"
#include "sluice/base/shared_ref.hpp"
#include "sluice/base/status.hpp"
#include "sluice/element/type.hpp"
#include "sluice/plan/arguments.hpp"
#include "sluice/plan/facts.hpp"
#include "sluice/plan/plan_memo.hpp"
#include "sluice/plan/split_rule.hpp"

namespace sluice::lib {

class absent_stage;
struct node_work;     // coro/positions/absent_stage.hpp
class erased_stream;  // coro/erased_stream.hpp
struct node_history;  // plan/node_history.hpp
struct open_context;  // engine/lowering/open_context.hpp
struct row_landing;   // engine/batching/row_landing.hpp
struct spec;          // element/spec.hpp

/// The number of elements that a plan delivers, as far as it is known without a run. Arithmetic saturates: a number
/// that does not fit becomes kMost, which means "kMost or more".
struct cardinality {
  static constexpr std::int64_t kMost = INT64_MAX;
  enum kind_type : std::uint8_t { exact, unknown, infinite } kind = unknown;
  std::int64_t elements = 0;  ///< if `kind` is exact
  static cardinality of(std::int64_t n) { return {exact, n}; }
  static cardinality of_many(std::uint64_t n) { return of(n < kMost ? static_cast<std::int64_t>(n) : kMost); }
  static cardinality forever() { return {infinite, 0}; }
  bool is_most() const { return kind == exact && elements == kMost; }

  // REQUIRES: n >= 0. The result for an unknown cardinality is unknown, unless n alone determines it.
  cardinality times(std::int64_t n) const;
  cardinality at_most(std::int64_t n) const;
  cardinality without(std::int64_t n) const;
  /// The sum of both.
  cardinality and_then(cardinality next) const;
  /// The number of groups of n elements; with `drop_remainder` only full groups count. REQUIRES: n > 0.
  cardinality in_groups(std::int64_t n, bool drop_remainder) const;
  bool operator==(const cardinality&) const = default;
};

/// How the stages of an operator are made.
struct op_lowering {
  /// Builds the stage of a node, and the stages of its inputs, within a run.
  erased_stream (*open)(const node&, open_context&) = nullptr;
  /// The same, for a consumer that wants rows in its columns instead of elements (engine/batching/row_landing.hpp).
  /// Null, or an empty stream: this node builds elements.
  erased_stream (*open_rows)(const node&, open_context&, const std::shared_ptr<row_landing>&) = nullptr;
  /// Its rows are in columns before they become elements, so that open_rows costs less than open for a consumer that reads
  /// numbers and texts from columns.
  bool has_columns = false;
  /// Builds at `to` the elements with these numbers, each less than the plan's size, in the order of `numbers`. Only a
  /// source that seeks and cannot fail may set it. Null: a stage builds them.
  void (*pick)(const node&, std::span<const std::uint64_t> numbers, char* to) = nullptr;
  /// The version of the saved values that the stage writes into positions. Raise it when their format changes. A
  /// checkpoint with an older version, down to state_version_oldest, is passed to the load() functions, which ask
  /// position_reader::version(); any other version is rejected.
  std::uint32_t state_version = 0;
  std::uint32_t state_version_oldest = 0;
  /// Returns the object that writes and reads the record of this node's stage where a rewrite has removed the node, so
  /// that positions stay those of the plan as written. Null: the stage has no record. A rewrite may remove only a stage
  /// that has no record or sets this function.
  std::unique_ptr<absent_stage> (*absent)(const node&) = nullptr;
  /// Returns what neighboring nodes must know to run as one stage with this one (engine/lowering/fused_stage.hpp). Null:
  /// the node never shares a stage.
  node_work (*work)(const node&) = nullptr;
};

/// The description of one operator: a constant NAME_op, declared in the header of its verb and defined in its source. Its
/// own members are the signature: what a plan may contain. `facts` state what the stage does to elements (plan/facts.hpp),
/// `splits` how it is split among workers (plan/split_rule.hpp), and `lowering` builds the stage.
struct op_info {
  enum shape_type : std::uint8_t {
    source,   ///< no input
    stage,    ///< one input, to the left of the `|`
    combine,  ///< two or more inputs, in the parentheses; one is enough in a list
  };

  std::string_view name;
  std::string_view doc;  ///< one line, for `sluice ops` and the documentation
  shape_type shape = stage;
  /// The struct of its arguments, without the inputs.
  const argument_list& (*arguments)() = arguments_of<no_arguments>;
  /// For a combine: plan text writes its inputs as a list, except for this number of inputs after the list:
  /// `sample_from_datasets([A, B])`. -1: no list, `zip(A, B)`.
  std::int8_t inputs_behind_list = -1;
  /// Gives arguments of equal meaning one form, before a node stores them: window(3, shift=3) becomes window(3). So they
  /// print alike and have one fingerprint. Null: they have one form already.
  void (*make_canonical)(sluice::lib::arguments&) = nullptr;
  /// For a reader of the file in its argument `path`: if `path` is a pattern, returns the plan that reads all files that
  /// match (src/plan/matching_files.hpp); if `path` is one file, returns null. Null: the operator has no such argument.
  /// A member, so that only programs with readers link the table of operators.
  node_ptr (*of_matches)(const node&) = nullptr;
  /// For such a source, if its type depends on its file: returns the arguments for all of these files, with the type
  /// that their elements have in common. Throws the error of a file. Null: the arguments stay as they are.
  sluice::lib::arguments (*for_files)(const node&, const std::vector<std::string>& files) = nullptr;
  /// Returns the arguments of a node that builds only the members with these names (sorted, at least one) of its
  /// structures or rows, and perhaps others, and that reports the same errors. With `trust` it may skip what only the
  /// other members need. Sets `why` if it cannot: the arguments then stay as they are. Null: nodes build all members.
  sluice::lib::arguments (*for_columns)(const node&, const std::vector<std::string>& names, bool trust,
                                        std::string& why) = nullptr;
  /// Returns the type of the output elements; null, with the reason in `why`, if inputs or arguments do not fit. Throws
  /// the error of a file from which it infers columns.
  const element_type* (*type)(const node&, std::string& why) = nullptr;
  /// Returns lengths and shapes that are known before a run. See plan_holder::element_spec(). Null: only the type is
  /// known; if the verb's type is always its input's, the spec is the input's.
  lib::spec (*spec)(const node&) = nullptr;
  op_facts facts = {};
  op_splits splits = {};
  op_lowering lowering = {};
};
// A constant with a destructor is registered when the program starts, so that the linker keeps every operator.
static_assert(std::is_trivially_destructible_v<op_info>);

/// Three arguments that every operator except ignore_errors has besides its own, last and by name, as in
/// `map(parse, on_error=skip, errors_max=100)`. ignore_errors is itself a policy. Operators contain no code for these
/// arguments. (In C++: plan/on_error.hpp.)
struct error_handling {
  /// The error policy of the stage. nullopt: the policy of the nearest ignore_errors downstream; otherwise, in an inner
  /// plan, that of the stage that opens it; otherwise that of the run. Part of the fingerprint if it is set.
  std::optional<error_policy> on_error = {};
  error_limit errors_max = {};      ///< under skip: one more bad element in this stage ends the stream
  lib::quarantine quarantine = {};  ///< under skip: the file for the bad elements of this stage
};

struct node {
  const op_info* op = nullptr;
  sluice::lib::arguments arguments{};
  error_handling errors{};
  std::vector<node_ptr> inputs{};
  const element_type* type = nullptr;  ///< of the output elements
  bool lacks_path = false;             ///< a reader; with_path() completes it
  std::uint32_t depth = 1;             ///< at most kPlanDepthMax
  /// Identifies the node within its chain: site_above() of its original input, preserved by rewrites. 0 before
  /// make_node().
  std::uint32_t site = 0;
  /// The name of the rewrite that inserted the node: a string literal, for example "add_prefetch". Empty for the user's
  /// nodes. Inserted nodes hash their sites apart, so they change no site of the user's nodes and share none with them.
  std::string_view inserted_by = {};
  /// The rules that have produced this node, and the nodes that it replaces (plan/node_history.hpp). Null for a node as
  /// its user wrote it. Part of neither the text nor the hash.
  shared_ref<const node_history> history = {};
  /// The optimized forms of the plan that ends here. A copy of the node has none.
  plan_memo memo = {};

  /// The operator's arguments. REQUIRES: A is its struct.
  template <class A> const A& as() const { return arguments.as<A>(); }
};

/// The largest depth of a plan; bounded because functions over plans are recursive.
inline constexpr std::uint32_t kPlanDepthMax = 1000;

// Operators by name: for plan text, JSON and the command line only. A verb refers to the constant of its operator, so a
// program links only the operators that it uses, or all operators if it reads plans.

/// All operators. Defined in op/registry.cpp, which refers to each, so that a static library cannot lose one.
std::span<const op_info* const> operators();
/// While an object of this class lives, `table` replaces the list of operators. For tests of the plan layer only;
/// REQUIRES: no other thread reads plans meanwhile.
class scoped_operators {
 public:
  explicit scoped_operators(std::span<const op_info* const> table);
  ~scoped_operators();
  scoped_operators(const scoped_operators&) = delete;
};
/// operators(), or the table of a scoped_operators.
std::span<const op_info* const> known_operators();
/// Returns null if no operator has that name.
const op_info* find_op(std::string_view name);

/// The site of a node of the operator `op` with the input `below` (null for a source or a combine): a hash of the
/// operator's name and of the number of nodes of that name upstream in the chain. So adding or removing other operators
/// changes no site. Unique among the nodes upstream. `inserted_by`: see node; only nodes with the same origin are
/// counted.
std::uint32_t site_above(std::string_view op, const node* below, std::string_view inserted_by = {});

/// Checks arguments, inputs and types, makes arguments canonical, and sets type and depth. Sets the site unless the
/// node has one already (a rewritten copy).
node_ptr make_node(node n);
// Each of these calls make_node() for one shape. A source without its path is a reader.
node_ptr make_stage(const op_info& op, const arguments& a, const node_ptr& input);
node_ptr make_source(const op_info& op, arguments a);
node_ptr make_combine(const op_info& op, arguments a, std::vector<node_ptr> inputs);
/// A copy of the reader with its path. Nodes that do not change are shared with the reader.
node_ptr with_path(const node_ptr& reader, std::string_view path);

/// Returns a copy of the plan in which all nodes without an error policy of their own get `errors`, except `below` (may
/// be null) and the nodes upstream of it, and except every ignore_errors. Inner plans are not changed: they follow the
/// stage that opens them.
node_ptr with_error_handling(const node_ptr& plan, const error_handling& errors, const node* below = nullptr);

/// The number of elements of the plan. Unknown if the node itself drops bad elements.
cardinality cardinality_of(const node& n);
/// Bounds of the number of elements; `most` is unknown if no bound is known.
struct cardinality_bounds {
  std::int64_t least = 0;
  cardinality most = {};
};
cardinality_bounds cardinality_bounds_of(const node& n);
/// The number of rows in all batches that a plan delivers.
cardinality row_cardinality_of(const node& n);
/// Returns ok if a run can skip any number of elements of this plan at a constant cost: every stage seeks, and none
/// drops bad elements, so that each element has a fixed number. Otherwise failed_precondition, which names the first
/// stage that cannot seek, with the reason.
status why_not_seekable(const node& n);
/// For op_facts::seeks: always, if the inputs can.
bool seeks_with_inputs(const node& n);
/// Returns true if operators, arguments and inputs are equal; a lambda is equal only to itself.
bool same_plan(const node& a, const node& b);
/// The hash by which checkpoints are compared. It covers everything except knobs, so that a run may resume with other
/// knobs.
std::uint64_t fingerprint(const node& n);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::cardinality;
using lib::cardinality_of;
using lib::fingerprint;
using lib::node_ptr;
using lib::same_plan;

}  // namespace sluice
