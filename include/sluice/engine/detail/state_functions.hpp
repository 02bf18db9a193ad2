// SPDX-License-Identifier: Apache-2.0
// The common part of all forms of state_function: making, saving, loading and measuring the state of a user's function.
// state_calls.hpp adds the call of the function.
//
//   SLUICE_FUNCTION(running_sum, [](std::int64_t& sum, const std::int64_t& x) { return sum += x; });
//
// The state is a value of a type S that a checkpoint can contain: numbers, enums, strings, vectors, arrays, maps, sets,
// optional values, pairs, tuples and structs of those, or a class with
//   void save(position_writer&) const; void load(position_reader&);
// whose load() restores the value that save() has written into a new S{}. When the format written by save() changes,
// such a class raises
//   static constexpr std::uint32_t state_version = 2, state_version_oldest = 1;
// A checkpoint with a version from state_version_oldest to state_version is passed to load(), which asks
// position_reader::version(). Any other version is rejected.
// Memory: the memory that a state owns is charged to the run's budget (engine/state_bytes.hpp).
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sluice/coro/saved.hpp"
#include "sluice/element/type.hpp"
#include "sluice/engine/detail/functions.hpp"
#include "sluice/engine/state_bytes.hpp"

namespace sluice::lib::detail {

template <class S>
inline constexpr bool undoable = copyable<S>() && std::is_copy_assignable_v<S> && std::is_nothrow_move_assignable_v<S>;

/// The text of `state` as the argument `initial_state` of a plan; empty if it is equal to `begun`, a value-initialized
/// state.
std::string initial_state_text(const state_function& f, const void* state, const void* begun);

/// F, or, if F is a function with a name, the type of the function that it contains.
template <class F> struct unnamed {
  using type = F;
};
template <class F> struct unnamed<named_function<F>> : unnamed<F> {};
template <class F> struct unnamed<function_named_in_place<F>> : unnamed<F> {};
template <class F> using unnamed_function = typename unnamed<F>::type;
template <class F>
concept has_signature =
    requires { &unnamed_function<F>::operator(); } || std::is_function_v<std::remove_pointer_t<unnamed_function<F>>>;
template <class F> using signature_of = signature<unnamed_function<F>>;
/// A function of two arguments, such as f(S&, T): neither an initial state nor a function that makes one from a key.
template <class F> concept takes_two = has_signature<F> && signature_of<F>::arguments == 2;

/// The type of the state that F changes: that of its first parameter, or `Given` if its parameters are templates.
template <class F, class Given> struct state_changed_by {
  using type = Given;
};
template <has_signature F, class Given> struct state_changed_by<F, Given> {
  using type = typename signature_of<F>::argument;
};

/// Returns false if F receives the state by value, so that its changes would be lost.
template <class F> constexpr bool changes_state() {
  if constexpr (has_signature<F>) return signature_of<F>::has_state;
  else return true;
}
template <class F, class S, class T>
concept callable_with_state = changes_state<F>() && std::invocable<const F&, S&, T&&>;
template <class F, class S, class T> using state_result = std::remove_cvref_t<std::invoke_result_t<const F&, S&, T&&>>;

/// The members of a state_function that depend only on the type of the state.
template <class S> struct function_of_state : state_function {
  std::shared_ptr<const S> initial;  ///< shared with the verb, because S may be move-only

  void* make() const override {
    if constexpr (copyable<S>()) return new S(*initial);
    else return new S();  // and the argument initial_state is loaded
  }
  void* make_from(void* from) const override { return new S(std::move(*static_cast<S*>(from))); }
  void destroy(void* state) const noexcept override { delete static_cast<S*>(state); }
  void save(const void* state, position_writer& w) const override { save_value(w, *static_cast<const S*>(state)); }
  void load(void* state, position_reader& r) const override { load_value(r, *static_cast<S*>(state)); }
  void move_state(void* state, void* to) const override { ::new (to) S(std::move(*static_cast<S*>(state))); }
  std::size_t owned_bytes(const void* state) const override { return bytes_owned_by(*static_cast<const S*>(state)); }
  std::string initial_text() const {
    const S begun{};
    return initial_state_text(*this, initial.get(), &begun);
  }

 protected:
  function_of_state(std::shared_ptr<const S> s, bool fails) : initial(std::move(s)) {
    can_fail = fails;
    can_undo = undoable<S>;
    state_size = sizeof(S);
    owns_memory = may_own_memory<S>;
    if constexpr (requires { S::state_version; }) state_version = state_version_oldest = S::state_version;
    if constexpr (requires { S::state_version_oldest; }) state_version_oldest = S::state_version_oldest;
  }

  /// Calls each(state, i, why) for i in [0, n), until it returns false. `Fails`: calls may throw or return an error.
  template <bool Fails, class Each> static applied each_of(void* state, std::uint32_t n, bool undo, const Each& each) {
    S& kept = *static_cast<S*>(state);
    if constexpr (!Fails) {
      return run<nothing_kept>(kept, n, each);
    } else if constexpr (std::is_trivially_copyable_v<S> && std::is_copy_assignable_v<S> && sizeof(S) <= 64) {
      // A local variable, which stays in registers although the loop stores to memory of its type.
      S now = kept;
      applied a = run<copy_kept>(now, n, each);
      kept = now;
      return a;
    } else if constexpr (undoable<S>) {
      return undo ? run<copy_kept>(kept, n, each) : run<nothing_kept>(kept, n, each);
    } else {
      return run<nothing_kept>(kept, n, each);
    }
  }

 private:
  /// The state before the current element.
  struct copy_kept {
    S before;
    explicit copy_kept(const S& s) : before(s) {}
    void keep(const S& s) { before = s; }
    void give_back(S& s) { s = std::move(before); }
  };
  struct nothing_kept {
    explicit nothing_kept(const S&) {}
    void keep(const S&) {}
    void give_back(S&) {}
  };
  template <class Before, class Each> static applied run(S& state, std::uint32_t n, const Each& each) {
    Before before(state);
    std::uint32_t i = 0;
    status why;
    try {
      for (; i != n; ++i) {
        before.keep(state);
        if (!each(state, i, why)) break;
      }
    } catch (...) { why = current_exception_status(); }
    if (!why.ok()) before.give_back(state);
    return {i, std::move(why)};
  }
};

/// The text of the verbs' static_asserts about the type of the state.
#define SLUICE_STATE_RULE                                                                                           \
  "a checkpoint must be able to hold the state: numbers, enums, strings, vectors, maps, pairs, arrays and structs " \
  "of those, or a class with save(position_writer&) const and load(position_reader&); and S{} must be one"
template <class S> concept function_state = savable<S> && std::default_initializable<S> && std::movable<S>;

}  // namespace sluice::lib::detail
