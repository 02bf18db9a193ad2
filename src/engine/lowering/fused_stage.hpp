// SPDX-License-Identifier: Apache-2.0
// Neighboring maps and filters that run as one stage: each block passes through all their functions before it is
// delivered. The rule fuse_expressions (src/optimizer) chooses them.
//
// The stage does the work of all its nodes, and keeps for each what the plan as written has: the counts, the error with
// the label and the ordinal of its own node, and the record of each filter. If the functions can be compiled into one
// pass, blocks without errors are computed by that pass. Other blocks are computed by one function after the other, which
// finds the same first error as separate stages would: the one of the most downstream function that fails for elements
// before all other failing ones.
// If the input has its rows in columns (op_lowering::has_columns), the pass reads these, and only its outputs are built.
// Then a filter alone is such a stage, too.
// State:  a record for each filter, as written. A position is taken where a whole block of the input was delivered.
// Thread: the stage's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sluice/coro/erased_stream.hpp"
#include "sluice/engine/detail/functions.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

struct column_view;  // expr/column_parts.hpp
struct open_context;

/// The work of a node: see op_lowering::work.
struct node_work {
  function_ptr function;  ///< a block_function, or a predicate_function of a filter
  bool is_filter = false;
  bool works_ahead = false;  ///< with parallelism
  sluice::lib::order order = order::deterministic;
  std::int64_t seed = -1;  ///< the argument
};

/// The functions of several stages, compiled together. One stream has one, and calls it for one block at a time.
class one_pass {
 public:
  virtual ~one_pass() = default;
  /// Constructs the outputs for the elements of `in`, which are only read, at `to`. `places`: of the first element, for
  /// each function. Adds the number of elements that each filter keeps to `kept`, by function. Returns false if an element
  /// fails: nothing is constructed then, and `kept` is unspecified.
  virtual bool compute(const block& in, void* to, const std::vector<element_place>& places, std::uint32_t* kept) = 0;
  /// Does the same for rows of columns. REQUIRES: it was compiled for them.
  virtual bool compute(const column_view& in, void* to, const std::vector<element_place>& places,
                       std::uint32_t* kept) = 0;
};

/// A function of a map or filter that can be computed in one pass with others.
class fusable_function {
 public:
  virtual ~fusable_function() = default;
  /// Returns the pass of these functions; null if there is none, so that they are called one after the other. The
  /// functions must outlive it. `from_columns`: the elements are rows of columns; filters alone then have a pass, too.
  virtual std::unique_ptr<one_pass> compile(const std::vector<const stage_function*>& functions,
                                            bool from_columns) const = 0;
};

/// The largest number of nodes in one stage.
inline constexpr std::size_t kFusedMost = 16;

/// Returns true for a node whose work is a fusable function.
bool is_fusable(const node& n);
/// Returns the reason why the function of `n` is not computed together with those of neighbors; empty if it may be.
/// REQUIRES: is_fusable(n).
std::string why_not_fused(const node& n);
/// Returns the reason why `n` may not join the stage of its input; empty if it may. REQUIRES: both are fusable.
std::string why_not_joined(const node& n);

/// Opens the stage of `n` and of the nodes that join it. Returns an empty stream if `n` joins none, or if a setting of the
/// run needs separate stages.
erased_stream open_fused(const node& n, open_context& context);

}  // namespace sluice::lib
