// SPDX-License-Identifier: Apache-2.0
// The loop of stages that choose the input of each element themselves: sample_from_datasets, round_robin.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/lowering/error_gate.hpp"
#include "sluice/coro/detail/input_set.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {

/// The state on which a choice depends.
struct mixing_state {
  std::uint64_t step = 0;           ///< number of the next element
  std::uint64_t last = 0;           ///< the input of the previous element, plus one; 0: no element yet
  std::vector<std::uint8_t> ended;  ///< for each input: 1 if it had no more elements when it was asked
  bool at_end = false;              ///< no element follows

  bool has_ended(std::size_t i) const { return ended[i] != 0; }
};

/// Chooses the input of each of the next elements, from step `s.step` on, while no other input ends. Returns the number
/// of choices, at least one; `to` is not empty. If the first step has no choice, `why` has the reason. It is called
/// again after an input has ended. REQUIRES: one input has not ended.
using mixing_choice = std::function<std::size_t(const mixing_state& s, std::span<std::uint32_t> to, status& why)>;

/// `stop_on_empty`: the first choice of an ended input ends the stage. A step without a choice is a bad element; 10,000
/// of them in a row are an error under any policy.
erased_stream mixing_loop(outlet out, saved<mixing_state> st, input_set in, mixing_choice choose, bool stop_on_empty,
                          error_gate gate);

}  // namespace sluice::lib
