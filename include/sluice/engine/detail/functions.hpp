// SPDX-License-Identifier: Apache-2.0
// The forms of users' functions: base classes through which stages call them once per block, by a virtual call, without
// their types.
//
// element_functions.hpp, state_calls.hpp, keys.hpp, inner_functions.hpp and stream_functions.hpp derive the class
// templates that contain a user's function; an operator's header makes one. Only its constructor and one loop are
// instantiated for each lambda of a user. That loop catches an exception of the user's function, once per block, and
// converts it to a status.
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
struct column_view;  // expr/column_parts.hpp

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
  /// Each output replaces its input: both have the same, trivially copyable type.
  bool in_place = false;
  /// Constructs the outputs for the elements of `in` at `to`: uninitialized memory, or in.data() if in_place. The
  /// inputs may be moved from; the caller must still destroy them. `first`: the place of in's first element.
  virtual applied apply(const block& in, void* to, const element_place& first) const = 0;

  /// True if it can append its outputs to the columns of a batch. They have the same values as those of apply().
  bool appends_rows = false;
  /// Appends a row for each element of `in`, but none for an element whose call fails. May throw the exceptions of
  /// column.
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
    std::uint32_t kept = 0;  ///< elements for which the predicate is true; they are now at the front of the view
    std::uint32_t seen = 0;  ///< elements for which it was called successfully; an error belongs to the element `seen`
    status why;
  };
  /// Moves the elements for which the predicate is true to the front of the view; the others stay constructed after
  /// them. `first`: the place of in's first element.
  virtual outcome keep(const block& in, const element_place& first) const = 0;
  /// Examines the elements from the front up to the first for which the predicate is false. `kept` counts the elements
  /// before it, `seen` counts it, too. Nothing moves.
  virtual outcome keep_while(const block& in, const element_place& first) const = 0;
};

/// A function that changes a state with each element, and yields one output for each input or none: scan, reduce,
/// group_by_reducer. The function object is const and shared by all runs. Each stream has its own state object
/// (engine/held/state_box.hpp), or one for each of its groups; their values are part of checkpoints.
struct state_function : stage_function {
  /// Null if it makes outputs: such a function never yields its state as an element.
  const element_type* state_type = nullptr;
  std::size_t state_size = 0;              ///< bytes of the state's object
  bool owns_memory = false;                ///< the object may own additional memory
  bool can_fail = true;                    ///< false: calls are noexcept
  bool can_undo = false;                   ///< the state can be copied, so that a call that fails leaves no trace in it
  bool always_undoes = false;              ///< it undoes even if it is not asked to
  std::uint32_t state_version = 0;         ///< of the bytes that save() writes
  std::uint32_t state_version_oldest = 0;  ///< the oldest that load() reads

  /// Returns a new state, with its value before the first element, to be freed by destroy().
  virtual void* make() const = 0;
  /// Returns a new state, moved from the one at `from`.
  virtual void* make_from(void* from) const = 0;
  virtual void destroy(void* state) const noexcept = 0;
  virtual void save(const void* state, position_writer& w) const = 0;
  virtual void load(void* state, position_reader& r) const = 0;
  /// The number of bytes that the state owns in addition to its object. Visits all parts of the state.
  virtual std::size_t owned_bytes(const void* state) const = 0;
  /// Moves the state to uninitialized room at `to`, as an element. Afterwards only destroy() may be called for it.
  virtual void move_state(void* state, void* to) const = 0;
  /// Calls the function for the elements of `in`, which may be moved from, and builds the outputs, if it makes any, at
  /// `to` (uninitialized room). An error belongs to element `done`. With `undo` the state then has its value before
  /// that element. Otherwise it is unspecified, and must not be used any more. REQUIRES: can_undo or !undo.
  virtual applied apply(void* state, const block& in, void* to, bool undo) const = 0;
};

/// The codes of keys (engine/keys.hpp), consecutively.
struct key_codes {
  std::string bytes;
  std::vector<std::size_t> ends;  ///< the end of each code within bytes

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

/// Returns a key for each element, of type `out`: elements are grouped by it. The engine knows keys by their codes,
/// which are equal if keys are equal, and have the order of the keys.
struct key_function : stage_function {
  /// Appends the code of each element's key to `to`. Elements are only read. An error belongs to element `done`.
  virtual applied codes(const block& in, key_codes& to) const = 0;
  /// Builds the key with this code in uninitialized room at `to`.
  virtual void build_key(std::string_view code, void* to) const = 0;

  /// True if a key is one whole number, an enum or a bool. Its code can then be read as a number.
  bool is_number = false;
  /// Writes the codes as numbers to `to`: equal if keys are equal, and in the same order. REQUIRES: is_number.
  virtual applied numbers(const block& /*in*/, std::uint64_t* /*to*/) const { return {}; }

  /// True if rows of columns may be the elements.
  bool reads_columns = false;
  /// The same for rows of columns. REQUIRES: reads_columns.
  virtual applied codes_of_rows(const column_view& in, key_codes& to) const;
  virtual applied numbers_of_rows(const column_view& in, std::uint64_t* to) const;
};

/// A function that returns the inner plan for an element: flat_map, interleave.
struct plan_function : stage_function {
  virtual node_ptr plan_for(void* element) const = 0;  // may throw
};

/// Elements in memory, of type `out`: from_elements.
struct elements_function : stage_function {
  bool is_data() const final { return true; }
  virtual std::size_t size() const = 0;
  /// Copies the elements [first, first + n) to uninitialized memory.
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
