// SPDX-License-Identifier: Apache-2.0
// The state of a user's function within one stream: made, saved, loaded and destroyed by the function, whatever its
// type.
//
//   erased_stream scan_loop(outlet out, saved<state_box> state, erased_stream in, …) {
//     … state->function().apply(state->get(), …) …
//
// Within a position: [length] { [version of the state] [what the function saves] }.
// Charged: what the state owns, where it may own anything (state_function::owns_memory); the object itself is as small as the
//         stage. Not after each call: see state_measure.
// Errors: resource_exhausted from save() (thrown): the state takes more than kStateBytesMax in a position; from charge(): the
//         memory budget cannot hold it. failed_precondition from load() (by position_reader::refuse): it has a version that
//         the function does not read.
// Thread: none; it belongs to its stage.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/lowering/error_gate.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

/// The most bytes that a state may add to a position. A mark is taken about every 10 ms, for every element stage above:
/// a state is meant for counts, sums and the last few elements, not for a buffer.
inline constexpr std::size_t kStateBytesMax = std::size_t{1} << 20;

/// Returns the error message for a larger state.
std::string state_too_large(std::size_t bytes);

/// Empty, or why `initial_state`, an argument of a plan, is no state of f: " is …".
std::string initial_state_mistake(const state_function& f, std::string_view initial_state);
/// Empty, or why a function that is no expression has `initial`.
std::string initial_mistake(const initial_value& initial, const stage_function& f);
/// Throws invalid_argument where the run's policy drops bad elements and f cannot forget one.
void check_can_undo(const state_function& f, const error_gate& gate);

// Single states, for those who keep several of one function.

/// Returns the part of a position that describes a state: its version, and the bytes that the function saves.
std::string saved_state(const state_function& f, const void* state);
/// Reads what saved_state wrote. `label`: the stage's, for r.refuse().
void load_state(const state_function& f, void* state, position_reader& r, std::string_view bytes,
                std::string_view label);
/// The argument initial_state, which has no mistake. Empty: the state stays as it is.
void load_initial_state(const state_function& f, void* state, std::string_view initial_state, std::string_view label);

/// Constructs at `to`, which is uninitialised, the element that a stage makes of its last state: what `finish`, a block_function,
/// returns for it, or, if that is null, the state itself. The state is for destroy() only then; so it may be after an error.
status finish_state(const state_function& f, const function_ptr& finish, void* state, void* to);

/// How much a state owned when it was last looked at, and whether to look again. To look takes time in proportion to what the
/// state consists of, and a call adds little to it: so a state of n bytes is looked at once in n / 64 calls.
class state_measure {
 public:
  std::size_t bytes() const { return bytes_; }
  /// The function was called so often. Returns whether the state is to be measured.
  bool called(std::uint32_t times) {
    calls_ += times;
    return calls_ * 64 >= bytes_;
  }
  /// Returns what it was before.
  std::size_t measured(std::size_t bytes) {
    calls_ = 0;
    return std::exchange(bytes_, bytes);
  }

 private:
  std::size_t bytes_ = 0;
  std::uint64_t calls_ = 0;
};

class state_box {
 public:
  /// `f` is a state_function, and `initial_state` has no mistake.
  state_box(function_ptr f, std::string_view initial_state, std::shared_ptr<run_context> run, const error_gate& gate);
  state_box(state_box&& o) noexcept
      : function_(std::move(o.function_)),
        state_(std::exchange(o.state_, nullptr)),
        label_(std::move(o.label_)),
        memory_(std::move(o.memory_)),
        measure_(o.measure_) {}
  state_box& operator=(state_box&&) = delete;
  ~state_box();

  const state_function& function() const { return static_cast<const state_function&>(*function_); }
  void* get() const { return state_; }
  void save(position_writer& w) const;
  void load(position_reader& r);
  /// Called after this number of calls of the function. Errors: resource_exhausted if the memory budget cannot hold the
  /// state, which is charged all the same.
  status charge(std::uint32_t calls) {
    if (!memory_ || !measure_.called(calls)) return {};
    return charge_now();
  }

 private:
  status charge_now();

  function_ptr function_;
  void* state_ = nullptr;
  std::string label_;                    ///< of its stage, for errors
  std::unique_ptr<held_memory> memory_;  ///< null: the state owns nothing
  state_measure measure_;
};

}  // namespace sluice::lib
