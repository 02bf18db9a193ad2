// SPDX-License-Identifier: Apache-2.0
// One loop for stages that take one element after the other of inputs which they choose by themselves: sample_from_datasets, round_robin.
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
  std::uint64_t last = 0;           ///< the input of the one before, plus one; 0: there was none
  std::vector<std::uint8_t> ended;  ///< for each input: 1, it had no more elements when it was asked
  bool at_end = false;              ///< nothing comes any more

  bool has_ended(std::size_t i) const { return ended[i] != 0; }
};

/// Which input each of the next elements comes from, from step `s.step` on, as long as no other input ends; `to` is not empty.
/// Returns for how many it has chosen: at least for one, unless `why` says why there is no choice for the first. It is called again
/// where an input has ended. REQUIRES: one has not ended.
using mixing_choice = std::function<std::size_t(const mixing_state& s, std::span<std::uint32_t> to, status& why)>;

/// `stop_on_empty`: the first choice of an input that has ended ends the stage. A step without a choice is a bad element; 10,000 of them
/// in a row are an error under any policy.
erased_stream mixing_loop(outlet out, saved<mixing_state> st, input_set in, mixing_choice choose, bool stop_on_empty,
                          error_gate gate);

}  // namespace sluice::lib
