// SPDX-License-Identifier: Apache-2.0
// One loop for stages that give the elements of one input after those of another: concatenate, weighted_flat_map.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/inner/inner_input.hpp"
#include "engine/lowering/open_context.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {

/// Which input, and where in it. Inputs are opened when those before have ended: before and behind it they hold nothing.
struct concatenation_state {
  std::uint64_t at = 0;
  inner_input input;

  void save(position_writer& w) {
    w.number(at);
    input.save(w);
  }
  void load(position_reader& r) {
    at = r.number();
    input.load(r);
  }
  bool may_wait() const { return input.may_wait(); }
};

/// `limits`: the most elements that each input delivers; empty: all. An input has that many, unless the run drops bad elements, so
/// that skips to its limit do not read it.
erased_stream concatenation_loop(outlet out, saved<concatenation_state> st, node combine, open_context context,
                                 std::vector<std::uint64_t> limits);

}  // namespace sluice::lib
