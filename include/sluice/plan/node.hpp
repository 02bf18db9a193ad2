// SPDX-License-Identifier: Apache-2.0
// A plan: an immutable tree of stages, known by operator name and element type. What a dataset<T> is a handle on.
//
//   node_ptr n = make_stage(shuffle_op, arguments::of(shuffle_arguments{10, {.seed = 7}}), input);    // checked
//   plan_text(*n)                                                    // "range(5) | shuffle(10, seed=7)"
//
// Nodes are values: they may be inputs of several plans and serve many runs at once.
// Sites: each node has a *site*, which names it within its own chain. Random draws and positions are bound to it, so it
//         must survive every rewrite: copy a node, change the copy, and give it to make_node(), which keeps the site.
// Errors: `error` with invalid_argument; the message starts with the operator: "batch: …".
// Thread: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/error_policy.hpp"
#include "sluice/base/status.hpp"
#include "sluice/element/type.hpp"
#include "sluice/plan/arguments.hpp"

namespace sluice::lib {

class erased_stream;  // coro/erased_stream.hpp
struct open_context;  // engine/open_context.hpp

/// How many elements a plan gives, as far as can be said without running it. Arithmetic saturates: what does not fit is
/// kMost, which stands for that many or more.
struct cardinality {
  static constexpr std::int64_t kMost = INT64_MAX;
  enum kind_type : std::uint8_t { exact, unknown, infinite } kind = unknown;
  std::int64_t elements = 0;  ///< of an exact one
  static cardinality of(std::int64_t n) { return {exact, n}; }
  static cardinality of_many(std::uint64_t n) { return of(n < kMost ? static_cast<std::int64_t>(n) : kMost); }
  static cardinality forever() { return {infinite, 0}; }
  bool is_most() const { return kind == exact && elements == kMost; }

  // n >= 0; unknown stays unknown, except where n decides alone.
  cardinality times(std::int64_t n) const;
  cardinality at_most(std::int64_t n) const;
  cardinality without(std::int64_t n) const;
  /// This many, then as many as `next`.
  cardinality and_then(cardinality next) const;
  /// Groups of n > 0; `drop_remainder`: only those that are full.
  cardinality in_groups(std::int64_t n, bool drop_remainder) const;
  bool operator==(const cardinality&) const = default;
};

/// What is known of one operator: a constant NAME_op, declared in the header of its verb and defined in its source.
struct op_info {
  enum shape_type : std::uint8_t {
    source,   ///< starts a plan
    stage,    ///< one input, left of the bar
    combine,  ///< two inputs or more, in the parentheses
  };

  std::string_view name;
  std::string_view doc;  ///< one line, for `sluice ops` and the documentation
  shape_type shape = stage;
  /// The struct of all that it takes in its parentheses, but for inputs.
  const argument_list& (*arguments)() = arguments_of<no_arguments>;
  /// The output type; null with `why` said.
  const element_type* (*type)(const node&, std::string& why) = nullptr;
  erased_stream (*open)(const node&, open_context&) = nullptr;
  cardinality (*size)(const node&) = nullptr;  ///< null: unknown
  /// What its stage writes into positions, counted up when that changes. State of an older version, down to the oldest
  /// named here, is given to the stage's load(), which asks position_reader::version(); any other is refused.
  std::uint32_t state_version = 0;
  std::uint32_t state_version_oldest = 0;
};

/// What each stage of a plan may say beside its operator's own arguments, whichever operator it is: last, and by name, as in
/// `map(parse, on_error=skip, errors_max=100)`. No operator has a line of it. (In C++: plan/on_error.hpp.)
struct error_handling {
  /// What an element that fails in this stage does. Not given: what the nearest ignore_errors downstream says, for an inner
  /// plan then the stage that opens it, else the run. Part of a fingerprint where it is given.
  std::optional<error_policy> on_error = {};
  error_limit errors_max = {};  ///< under skip: one bad element more in this stage ends the stream
};

struct node {
  const op_info* op = nullptr;
  sluice::lib::arguments arguments{};
  error_handling errors{};
  std::vector<node_ptr> inputs{};
  const element_type* type = nullptr;  ///< of the elements that come out
  bool lacks_path = false;             ///< it is a reader: with_path() completes it
  std::uint32_t depth = 1;
  /// Which stage this is, whatever is done to the plan: site_above() of what it was first written on. Never 0 once made.
  std::uint32_t site = 0;

  /// The operator's arguments, as the struct they are.
  template <class A> const A& as() const { return arguments.as<A>(); }
};

/// Stages below each other that a plan may have: what walks plans is recursive.
inline constexpr std::uint32_t kPlanDepthMax = 1000;

// Operators by name: for plan text, JSON and the command line alone. A verb names its operator as the constant that it is,
// so a program links the operators it uses, and all of them only where it reads plans.

/// All operators. Defined in op/registry.cpp, so that a static library cannot lose one.
std::span<const op_info* const> operators();
/// While it lives, plans know these operators instead. For tests of the plan layer; not while other threads parse.
class scoped_operators {
 public:
  explicit scoped_operators(std::span<const op_info* const> table);
  ~scoped_operators();
  scoped_operators(const scoped_operators&) = delete;
};
/// Those in force.
std::span<const op_info* const> known_operators();
const op_info* find_op(std::string_view name);

/// The site of a stage `op` written on top of `below` (null: a source, or a combine): a digest of the operator's name and of
/// how many stages of that name stand below it, down to the source or to the combine. So what is added or taken away
/// anywhere else changes no stage's site. Unique in its chain.
std::uint32_t site_above(std::string_view op, const node* below);

/// Checks arguments, inputs and types, and sets the type; and the site, unless the node has one (a rewritten copy).
node_ptr make_node(node n);
// The usual forms. A source without what may come later (its path) is a reader.
node_ptr make_stage(const op_info& op, const arguments& a, const node_ptr& input);
node_ptr make_source(const op_info& op, arguments a);
node_ptr make_combine(const op_info& op, arguments a, std::vector<node_ptr> inputs);
/// A reader with its path filled in. Nodes that do not lack it are shared.
node_ptr with_path(const node_ptr& reader, std::string_view path);

/// The plan, where all its stages that do not say so already handle errors in this way; but not `below` (null: none) and what
/// stands below it. Inner plans are left as they are: they follow the stage that opens them.
node_ptr with_error_handling(const node_ptr& plan, const error_handling& errors, const node* below = nullptr);

/// Unknown where the stage itself says that it passes over bad elements.
cardinality cardinality_of(const node& n);
/// Every argument and input alike; lambdas and data by identity.
bool same_plan(const node& a, const node& b);
/// What a checkpoint is compared by: everything but knobs, so that a retuned run can resume.
std::uint64_t fingerprint(const node& n);

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::cardinality;
using lib::cardinality_of;
using lib::fingerprint;
using lib::node_ptr;
using lib::same_plan;

}  // namespace sluice
