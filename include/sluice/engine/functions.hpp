// SPDX-License-Identifier: Apache-2.0
// User functions as the engine calls them: once per block, through one virtual call, without their types.
//
// The operators' headers derive from these (map.hpp …); all that is instantiated for a user's lambda is a constructor
// and one loop. What a user's function throws is caught inside these loops, once per block, and told as a status.
// Thread: the functions are const and called from several workers at once; a user's function must allow that.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sluice/base/call.hpp"
#include "sluice/base/random.hpp"
#include "sluice/base/status.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

namespace detail {

/// What a loop over a block calls: small functions by value, so that their captures stay in registers although the loop
/// stores to memory of the captures' types.
template <class F>
using local_function = std::conditional_t<std::is_trivially_copyable_v<F> && sizeof(F) <= 64, F, const F&>;

}  // namespace detail

/// A second argument of map's function: which element it is called for, counted from 0 over the stage's input (from the
/// start of the epoch). The same after a resume, under any parallelism, and whether or not bad elements are passed over.
struct element_index {
  std::uint64_t value = 0;
  constexpr operator std::uint64_t() const { return value; }  // NOLINT: an index is written as a number
};

/// Where a block stands in its stage's input, and what the stage's random numbers start from.
struct element_place {
  std::uint64_t ordinal = 0;
  std::uint64_t seed = 0;
  element_index index(std::uint32_t i) const { return {ordinal + i}; }
  /// A source of its own for each element: its draws depend on nothing but seed and ordinal.
  random_source random(std::uint32_t i) const { return random_source(derive(seed, ordinal + i)); }
};

namespace detail {

/// The forms of a function over elements: f(T), f(T, element_index), f(T, random_source&).
template <class F, class T> inline constexpr bool takes_element = std::invocable<const F&, T&&>;
template <class F, class T>
inline constexpr bool takes_index = !takes_element<F, T> && std::invocable<const F&, T&&, element_index>;
template <class F, class T>
inline constexpr bool takes_random =
    !takes_element<F, T> && !takes_index<F, T> && std::invocable<const F&, T&&, random_source&>;

template <class F, class T> struct called {};
template <class F, class T>
  requires takes_element<F, T>
struct called<F, T> : std::invoke_result<const F&, T&&> {};
template <class F, class T>
  requires takes_index<F, T>
struct called<F, T> : std::invoke_result<const F&, T&&, element_index> {};
template <class F, class T>
  requires takes_random<F, T>
struct called<F, T> : std::invoke_result<const F&, T&&, random_source&> {};

/// Calls f for the i-th element from `first` on.
template <class F, class T>
decltype(auto) call_with_place(const F& f, T&& x, [[maybe_unused]] const element_place& first,
                               [[maybe_unused]] std::uint32_t i) {
  if constexpr (takes_element<F, T>) {
    return detail::call(f, std::forward<T>(x));
  } else if constexpr (takes_index<F, T>) {
    return detail::call(f, std::forward<T>(x), first.index(i));
  } else {
    random_source random = first.random(i);
    return detail::call(f, std::forward<T>(x), random);
  }
}

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
  /// Builds outputs of `in` at `to` (uninitialised room, or in.data() when in_place). Inputs may be moved from. `first`: of
  /// in's first element.
  virtual applied apply(const block& in, void* to, const element_place& first) const = 0;
};

/// One output for each input, awaited.
struct async_function : stage_function {
  /// Builds the output of the element at `in` at `to`. Both stay valid until the task has ended.
  virtual task<void> start(void* in, void* to, element_place place) const = 0;
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

/// One output for each input, or none, with a state that lives from element to element: scan, reduce. The function itself
/// is shared and const; each stream that calls it has a state of its own (engine/state_box.hpp), which lives within a
/// checkpoint as a value.
struct state_function : stage_function {
  const element_type* state_type = nullptr;  ///< null where it makes outputs: only reduce hands its state on as an element
  bool can_fail = true;                 ///< false: calls are noexcept
  bool can_undo = false;                ///< the state can be copied, so that a call that fails leaves no trace in it
  std::uint32_t state_version = 0;      ///< of what save() writes,
  std::uint32_t state_version_oldest = 0;  ///< and the oldest that load() reads

  /// A new state as it is before the first element, for destroy().
  virtual void* make() const = 0;
  virtual void destroy(void* state) const noexcept = 0;
  virtual void save(const void* state, position_writer& w) const = 0;
  virtual void load(void* state, position_reader& r) const = 0;
  /// Moves the state to uninitialised room at `to`, as an element. What is left is for destroy() only.
  virtual void move_state(void* state, void* to) const = 0;
  /// Calls the function for the elements of `in`, which may be moved from, and builds the outputs, where it makes any, at
  /// `to` (uninitialised room). An error is element `done`'s. `undo`: the state is then as it was before that element;
  /// otherwise it may be anything, and must not be used any more. REQUIRES: can_undo or !undo.
  virtual applied apply(void* state, const block& in, void* to, bool undo) const = 0;
};

/// An element becomes a plan: flat_map, interleave.
struct plan_function : stage_function {
  virtual node_ptr plan_for(void* element) const = 0;  // may throw
};

/// A user's coroutine as a stage (in ≠ null) or as a source.
struct stream_function : stage_function {
  std::string label;                                       ///< for errors: "transform(words)"
  virtual erased_stream open(erased_stream in) const = 0;  // may throw

 protected:
  /// To be called when the name is known.
  void set_label(std::string_view op) { label = name.empty() ? std::string(op) : std::string(op) + "(" + name + ")"; }
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::element_index;

}  // namespace sluice
