// SPDX-License-Identifier: Apache-2.0
// The state of a user's function within one stream: made, saved, loaded and destroyed by the function, whatever its
// type.
//
//   erased_stream scan_loop(outlet out, saved<state_box> state, erased_stream in, …) {
//     … state->function().apply(state->get(), …) …
//
// Within a position: [length] { [version of the state] [what the function saves] }.
// Errors: resource_exhausted from save() (thrown): the state takes more than kStateBytesMax. failed_precondition from
//         load() (by position_reader::refuse): it has a version that the function does not read.
// Thread: none; it belongs to its stage.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/error_gate.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/engine/functions.hpp"

namespace sluice::lib {

/// What a state may take in a position. A mark is taken every 10 ms or so, for every element stage above: a state is
/// meant for counts, sums and the last few elements, not for a buffer.
inline constexpr std::size_t kStateBytesMax = std::size_t{1} << 20;

/// Empty, or why `initial_state`, an argument of a plan, is no state of f: " is …".
std::string initial_state_mistake(const state_function& f, std::string_view initial_state);
/// Throws invalid_argument where the run's policy passes over bad elements and f cannot forget one.
void check_can_undo(const state_function& f, const error_gate& gate);

class state_box {
 public:
  /// `f` is a state_function, and `initial_state` has no mistake.
  state_box(function_ptr f, std::string_view initial_state, std::string_view label);
  state_box(state_box&& o) noexcept
      : function_(std::move(o.function_)), state_(std::exchange(o.state_, nullptr)), label_(std::move(o.label_)) {}
  state_box& operator=(state_box&&) = delete;
  ~state_box();

  const state_function& function() const { return static_cast<const state_function&>(*function_); }
  void* get() const { return state_; }
  void save(position_writer& w) const;
  void load(position_reader& r);

 private:
  function_ptr function_;
  void* state_ = nullptr;
  std::string label_;  ///< of its stage, for errors
};

}  // namespace sluice::lib
