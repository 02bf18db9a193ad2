// SPDX-License-Identifier: Apache-2.0
// The inputs of a set in the order in which they have something: for stages that take whichever is ready first.
//
//   auto choosing = any.next(in, {0, out.wanted(), out.wanted_bytes()});
//   std::size_t chosen = co_await choosing;
//   if (chosen == any_input::kNone) break;                    // all have ended
//   if (in[chosen].left() == 0) continue;                     // this one has ended, and is not chosen again
//   log.add(chosen);                                          // a resume has to choose alike: see State
//   co_yield in[chosen].take(out.wanted());
//
// An input that need not wait is asked where it is. One that may have to (a file, a call that is awaited, a channel) gets a
// channel of its own the first time that it is passed by, and works ahead of the stage by two blocks from then on: only so
// can several be waited for, while each request on a stream has to be answered before the stage may be asked where it is.
// Order:  timing's, and among those that are ready the one whose turn it is, so that none is left behind.
// Errors: an input's.  Cancel: a stop ends the wait, by the error of the input that tells it.
// State:  none of its own: the channels stand where their inputs stand, and no position shows them. Which input was chosen is
//         a matter of timing; a stage that has to go on exactly logs the choices (coro/position.hpp, decision_log), and asks
//         the set for those it repeats.
// Thread: none; next() is called by one stage, one call at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ahead/ordered_reader.hpp"
#include "ahead/ready_signal.hpp"
#include "sluice/coro/input_set.hpp"

namespace sluice::lib {

class any_input {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// `memory`: what the channels are charged to.
  any_input(std::shared_ptr<run_context> run, channel_memory memory, std::size_t inputs);

  /// The number of an input that has an element ready, or of one that turns out to have ended: it has none left. kNone where
  /// all have been seen to end. `in` is the same set in each call.
  task<std::size_t> next(input_set& in, demand d);

 private:
  struct source {
    std::shared_ptr<reader_link> channel;  ///< null: asked where it is
    bool ended = false;
  };
  void give_channel(erased_stream& in, source& s);
  void urge_one();

  std::shared_ptr<run_context> run_;
  channel_memory memory_;
  std::shared_ptr<ready_signal> signal_;
  std::vector<source> sources_;
  std::size_t turn_ = 0;
};

}  // namespace sluice::lib
