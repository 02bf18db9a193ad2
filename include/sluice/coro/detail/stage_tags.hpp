// SPDX-License-Identifier: Apache-2.0
// Parameters of a stage's coroutine that carry no value, and say what kind of stage it is.
//
//   stream<sample> decoded(stateless, stream<record> in) { … }
#pragma once

namespace sluice::lib {

/// Of a block stage: every input element gives exactly one output element, so passing over outputs is passing over inputs.
/// With this tag and no saved values of its own it has no record in a position: it stands where its input stands. It has
/// exactly one input: with two, elements to be passed over could not be assigned to either.
struct one_to_one {
  bool holds = true;
};
/// The stage itself waits (for calls, timers, files), not only its inputs.
struct may_suspend {};
/// Of an element stage: when it asks for input it remembers nothing about earlier input; it can start again from there.
struct stateless {};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::may_suspend;
using lib::one_to_one;
using lib::stateless;

}  // namespace sluice
