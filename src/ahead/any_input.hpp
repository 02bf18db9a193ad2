// SPDX-License-Identifier: Apache-2.0
// Chooses the input of a set that has elements ready first: for stages that deliver elements of whichever input is
// ready.
//
//   auto choosing = any.next(in, {0, out.wanted(), out.wanted_bytes()});
//   std::size_t chosen = co_await choosing;
//   if (chosen == any_input::kNone) break;                    // all have ended
//   if (in[chosen].left() == 0) continue;                     // this one has ended, and is not chosen again
//   log.add(chosen);                                          // so that a resumed run makes the same choice: see State
//   co_yield in[chosen].take(out.wanted());
//
// An input that never waits is requested from directly. An input that may wait (a file, an awaited call, a channel)
// gets a channel when it is first not chosen, and from then on works ahead of the stage by two blocks. Without channels
// it is not possible to wait for several inputs at once, because every request must have finished before the stage's
// position may be read.
// Order:  depends on timing. If several inputs are ready, the one after the input chosen last is next, so that none is
//         starved.
// Errors: those of the inputs.
// Cancel: a stop ends the wait with `cancelled`.
// State: none of its own: the position of such a channel is its input's position. The choice of an input depends on
//        timing. A stage that must resume exactly logs the choices (coro/position.hpp, decision_log), and passes them
//        to the set when it replays.
// Thread: none; next() is called by one stage, one call at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ahead/ordered_reader.hpp"
#include "ahead/ready_signal.hpp"
#include "sluice/coro/detail/input_set.hpp"

namespace sluice::lib {

class any_input {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// `memory`: the ledger line that the channels are charged to.
  any_input(std::shared_ptr<run_context> run, channel_memory memory, std::size_t inputs);

  /// Returns the number of an input that has an element ready, or of one that has just ended: it has none left. Returns
  /// kNone after the ends of all inputs have been seen. `in` is the same set in each call.
  task<std::size_t> next(input_set& in, demand d);

 private:
  struct source {
    std::shared_ptr<reader_link> channel;  ///< null: requests go directly to the input
    bool ended = false;
  };
  void give_channel(erased_stream& in, source& s);

  std::shared_ptr<run_context> run_;
  channel_memory memory_;
  std::shared_ptr<ready_signal> signal_;
  std::vector<source> sources_;
  std::size_t turn_ = 0;
};

}  // namespace sluice::lib
