// SPDX-License-Identifier: Apache-2.0
// User functions as the engine calls them: once per block, through one virtual call, without their types.
//
// The operators' headers derive from these (map.hpp …); all that is instantiated for a user's lambda is a constructor
// and one loop. What a user's function throws is caught inside these loops, once per block, and told as a status.
// Thread: the functions are const and called from several workers at once; a user's function must allow that.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sluice/base/call.hpp"
#include "sluice/base/status.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/node.hpp"

namespace sluice {

namespace detail {

/// What a loop over a block calls: small functions by value, so that their captures stay in registers although the loop
/// stores to memory of the captures' types.
template <class F>
using local_function = std::conditional_t<std::is_trivially_copyable_v<F> && sizeof(F) <= 64, F, const F&>;

}  // namespace detail

/// How far a block function came: elements [0, done) are computed; where `why` is an error it is element `done`'s.
struct applied {
  std::uint32_t done = 0;
  status why;
};

/// One output for each input, computed at once.
struct block_function : stage_function {
  /// Outputs replace their inputs: same type, trivially copyable.
  bool in_place = false;
  /// Builds outputs of `in` at `to` (uninitialised room, or in.data() when in_place). Inputs may be moved from.
  virtual applied apply(const block& in, void* to) const = 0;
};

/// One output for each input, awaited.
struct async_function : stage_function {
  /// Builds the output of the element at `in` at `to`. Both stay valid until the task has ended.
  virtual task<void> start(void* in, void* to) const = 0;
};

struct predicate_function : stage_function {
  struct outcome {
    std::uint32_t kept = 0;  ///< elements moved to the front of the view
    std::uint32_t seen = 0;  ///< elements looked at; an error is element `seen`'s
    status why;
  };
  /// Moves the elements to keep to the front; the others stay constructed behind them.
  virtual outcome keep(const block& in) const = 0;
};

/// An element becomes a plan: flat_map, interleave.
struct plan_function : stage_function {
  virtual node_ptr plan_for(void* element) const = 0;  // may throw
};

/// A user's coroutine as a stage (in ≠ null) or as a source.
struct stream_function : stage_function {
  virtual erased_stream open(erased_stream in) const = 0;  // may throw
};

}  // namespace sluice
