// SPDX-License-Identifier: Apache-2.0
// The state of a user's function within one stream. The function constructs, saves, loads and destroys it, whatever its
// type.
//
//   erased_stream scan_loop(outlet out, saved<state_box> state, erased_stream in, …) {
//     … state->function().apply(state->get(), …) …
//
// Within a position: [length] { [version of the state] [what the function saved] }.
// Charged: the memory that the state owns, if its type may own any (state_function::owns_memory). It is measured after
// some calls
//         only: see state_measure.
// Errors: resource_exhausted: save() throws it if the state takes more than kStateBytesMax in a position; charge()
//         returns it if the state exceeds the memory budget. failed_precondition: load() reports it (by
//         position_reader::refuse) for a version that the function does not read.
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

/// The most bytes that a state may add to a position. A mark is recorded about every 10 ms for every element stage
/// downstream, so a state is meant for counts, sums and the last few elements, not for a buffer.
inline constexpr std::size_t kStateBytesMax = std::size_t{1} << 20;

/// Returns the error message for a larger state.
std::string state_too_large(std::size_t bytes);

/// Returns "", or why `initial_state`, an argument of a plan, is no state of f: " is …".
std::string initial_state_mistake(const state_function& f, std::string_view initial_state);
/// Returns "", or why `initial` is refused for a function that is no expression.
std::string initial_mistake(const initial_value& initial, const stage_function& f);
/// Throws invalid_argument if the run's policy drops bad elements and f cannot undo one.
void check_can_undo(const state_function& f, const error_gate& gate);

// Single states, for stages that have several states of one function.

/// Returns the part of a position that describes a state: its version, and the bytes that the function saves.
std::string saved_state(const state_function& f, const void* state);
/// Reads the output of saved_state. `label`: the stage's, for r.refuse().
void load_state(const state_function& f, void* state, position_reader& r, std::string_view bytes,
                std::string_view label);
/// Loads the argument initial_state, which was checked before. If it is empty, the state stays unchanged.
void load_initial_state(const state_function& f, void* state, std::string_view initial_state, std::string_view label);

/// Builds the element that a stage yields for its last state at uninitialised `to`: the result of `finish`, a
/// block_function, or the state itself if `finish` is null. Afterwards the state may only be destroyed; the same holds
/// after an error.
status finish_state(const state_function& f, const function_ptr& finish, void* state, void* to);

/// Decides when to measure the memory that a state owns. Measuring takes time in proportion to the state, and one call
/// adds little to it. A state of n bytes is therefore measured once in n / 64 calls.
class state_measure {
 public:
  std::size_t bytes() const { return bytes_; }
  /// Counts `times` calls of the function. Returns true if the state must be measured now.
  bool called(std::uint32_t times) {
    calls_ += times;
    return calls_ * 64 >= bytes_;
  }
  /// Stores the measured size. Returns the previous one.
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
  /// `f` is a state_function. `initial_state` was checked before.
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
  /// Charges the state after `calls` calls of the function. Returns resource_exhausted if it exceeds the memory budget;
  /// it is charged in this case, too.
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
