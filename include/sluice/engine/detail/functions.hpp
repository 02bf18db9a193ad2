// SPDX-License-Identifier: Apache-2.0
// The forms of users' functions: base classes by which stages call them once per block, by a virtual call, without
// their types.
//
// element_functions.hpp, state_calls.hpp, keys.hpp, inner_functions.hpp and stream_functions.hpp derive the class templates
// that hold a user's function; an operator's header makes one. Only its constructor and one loop are instantiated for each
// lambda of a user. An exception of the user's function is caught in that loop, once per block,
// and becomes a status.
// Thread: the member functions are const, and may be called on several workers at once; so may the user's function.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/base/assert.hpp"
#include "sluice/base/call.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/base/status.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

class column;

namespace detail {

/// The type of a loop's local copy of its function: small functions are copied, so that their captures can stay in
/// registers although the loop writes to memory that could otherwise alias them.
template <class F>
using local_function = std::conditional_t<std::is_trivially_copyable_v<F> && sizeof(F) <= 64, F, const F&>;

}  // namespace detail

/// A type of map's second parameter: the ordinal of the element in the stage's input, from 0 at the start of the epoch.
/// The same after a resume, with any parallelism, and whether or not the stage drops bad elements.
struct element_index {
  std::uint64_t value = 0;
  constexpr operator std::uint64_t() const { return value; }  // NOLINT: an index is written as a number
};

/// The ordinal of a block's first element in the stage's input, and the seed of the stage's random numbers.
struct element_place {
  std::uint64_t ordinal = 0;
  std::uint64_t seed = 0;
  element_index index(std::uint32_t i) const { return {ordinal + i}; }
  /// The random numbers of the i-th element of the block; a function of seed and ordinal only.
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

/// The result of a call for a block: the elements [0, done) are computed; `why`, if not ok, is the error of the element
/// `done`.
struct applied {
  std::uint32_t done = 0;
  status why;
};

/// One output for each input, by a function that does not wait.
struct block_function : stage_function {
  /// Each output is written over its input: both have the same, trivially copyable type.
  bool in_place = false;
  /// Constructs the outputs for the elements of `in` at `to`: uninitialised memory, or in.data() if in_place. The
  /// inputs may be moved from, and stay to be destroyed by the caller. `first`: the place of in's first element.
  virtual applied apply(const block& in, void* to, const element_place& first) const = 0;

  /// Can it append its outputs to the columns of a batch? They have the same values as those of apply().
  bool appends_rows = false;
  /// Appends a row for each element of `in`; none of an element whose call fails. May throw what column does.
  virtual applied append_rows(const block& in, column& rows, const element_place& first) const;
};

/// One output for each input, by a function that returns a task.
struct async_function : stage_function {
  /// Returns a task that constructs the output for the element at `in` at `to`. REQUIRES: both are valid until the task
  /// has ended.
  virtual task<void> start(void* in, void* to, element_place place) const = 0;
};

struct predicate_function : stage_function {
  struct outcome {
    std::uint32_t kept = 0;  ///< elements for which the predicate is true; they are at the front of the view now
    std::uint32_t seen = 0;  ///< elements for which it was called successfully; an error is that of the element `seen`
    status why;
  };
  /// Moves the elements for which the predicate is true to the front of the view; the others stay constructed behind
  /// them.
  /// `first`: the place of in's first element.
  virtual outcome keep(const block& in, const element_place& first) const = 0;
  /// Looks at the elements from the front up to the first for which the predicate is false: `kept` before it, and `seen`, which
  /// counts it, too. Nothing moves.
  virtual outcome keep_while(const block& in, const element_place& first) const = 0;
};

/// A function that changes a state with each element, and makes one output for each input or none: scan, reduce,
/// group_by_reducer. The function object is const and shared by all runs; each stream has a state object of its own
/// (engine/held/state_box.hpp), or one for each of its groups, whose values are part of checkpoints.
struct state_function : stage_function {
  const element_type* state_type =
      nullptr;                      ///< null where it makes outputs: those never hand their state on as an element
  std::size_t state_size = 0;       ///< bytes of the state's object
  bool owns_memory = false;         ///< the object may own more
  bool can_fail = true;             ///< false: calls are noexcept
  bool can_undo = false;            ///< the state can be copied, so that a call that fails leaves no trace in it
  bool always_undoes = false;       ///< it does so whether it is asked to or not
  std::uint32_t state_version = 0;  ///< of what save() writes,
  std::uint32_t state_version_oldest = 0;  ///< and the oldest that load() reads

  /// A new state as it is before the first element, for destroy().
  virtual void* make() const = 0;
  /// A new state, moved from the one at `from`.
  virtual void* make_from(void* from) const = 0;
  virtual void destroy(void* state) const noexcept = 0;
  virtual void save(const void* state, position_writer& w) const = 0;
  virtual void load(void* state, position_reader& r) const = 0;
  /// Bytes that the state owns beyond its object. It looks at all that the state consists of.
  virtual std::size_t owned_bytes(const void* state) const = 0;
  /// Moves the state to uninitialised room at `to`, as an element. What is left is for destroy() only.
  virtual void move_state(void* state, void* to) const = 0;
  /// Calls the function for the elements of `in`, which may be moved from, and builds the outputs, where it makes any,
  /// at `to` (uninitialised room). An error is element `done`'s. `undo`: the state is then as it was before that
  /// element; otherwise it may be anything, and must not be used any more. REQUIRES: can_undo or !undo.
  virtual applied apply(void* state, const block& in, void* to, bool undo) const = 0;
};

/// The codes of keys (engine/keys.hpp), one behind the other.
struct key_codes {
  std::string bytes;
  std::vector<std::size_t> ends;  ///< of each code within bytes

  std::size_t size() const { return ends.size(); }
  std::string_view operator[](std::size_t i) const {
    std::size_t first = i ? ends[i - 1] : 0;
    return std::string_view(bytes).substr(first, ends[i] - first);
  }
  void clear() {
    bytes.clear();
    ends.clear();
  }
};

/// A key for each element, of type `out`: what elements are grouped by. The engine knows keys by their codes, which are
/// equal where keys are equal and ordered as keys are.
struct key_function : stage_function {
  /// Adds the code of each element's key to `to`. Elements are only looked at. An error is element `done`'s.
  virtual applied codes(const block& in, key_codes& to) const = 0;
  /// Builds the key that has this code in uninitialised room at `to`.
  virtual void build_key(std::string_view code, void* to) const = 0;

  /// Is a key one number without a fraction, an enum or a bool? Then its code, read as a number, says the same.
  bool is_number = false;
  /// The codes as numbers, at `to`: equal where keys are, and ordered as they are. REQUIRES: is_number.
  virtual applied numbers(const block& /*in*/, std::uint64_t* /*to*/) const { return {}; }
};

/// A function that returns the inner plan for an element: flat_map, interleave.
struct plan_function : stage_function {
  virtual node_ptr plan_for(void* element) const = 0;  // may throw
};

/// Elements in memory, of type `out`: from_elements.
struct elements_function : stage_function {
  bool is_data() const final { return true; }
  virtual std::size_t size() const = 0;
  /// Copies the elements [first, first + n) to uninitialised memory.
  virtual void copy(std::size_t first, std::size_t n, void* to) const = 0;
};

/// A user's function that returns a coroutine: a stage if the member `in` is not null, otherwise a source.
struct stream_function : stage_function {
  std::string label;                                       ///< for errors: "transform(words)"
  virtual erased_stream open(erased_stream in) const = 0;  // may throw

 protected:
  /// Sets the label. REQUIRES: the name is set.
  void set_label(std::string_view op) { label = name.empty() ? std::string(op) : std::string(op) + "(" + name + ")"; }
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::element_index;

}  // namespace sluice
