// SPDX-License-Identifier: Apache-2.0
// The loop of stages that deliver their inputs one after another: concatenate, weighted_flat_map.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/inner/inner_input.hpp"
#include "engine/lowering/open_context.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {

/// The input that is being read, and its position. An input is opened when those before it have ended; other inputs use
/// no memory.
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

/// `limits`: the number of elements that each input delivers; empty: all elements. An input is not read to skip to its
/// limit, unless the run drops bad elements.
erased_stream concatenation_loop(outlet out, saved<concatenation_state> st, node combine, open_context context,
                                 std::vector<std::uint64_t> limits);

}  // namespace sluice::lib
