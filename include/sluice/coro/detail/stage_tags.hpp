// SPDX-License-Identifier: Apache-2.0
// Parameters of a stage's coroutine that carry no value and state its kind.
//
//   stream<sample> decoded(stateless, stream<record> in) { … }
#pragma once

namespace sluice::lib {

/// For a block stage: every input element yields exactly one output element, so skipping outputs is skipping inputs.
/// With this tag and no saved values of its own the stage has no record in a position: its position is that of its
/// input. It has exactly one input: with two, elements to be skipped could not be assigned to either.
struct one_to_one {
  bool holds = true;
};
/// The stage itself waits (for calls, timers, files), not only its inputs.
struct may_suspend {};
/// For an element stage: at a request for input it remembers nothing about earlier input, so it can start again from
/// there.
struct stateless {};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::may_suspend;
using lib::one_to_one;
using lib::stateless;

}  // namespace sluice
