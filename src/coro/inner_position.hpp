// SPDX-License-Identifier: Apache-2.0
// The position of a stream that a stage opens during the run (an inner plan, a repeated input). It is part of the saved
// values of that stage, because such a stream is not a parameter of the stage's coroutine.
#pragma once

#include <string>

#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

/// Writes the position of `in`; or, if the stream is not open yet (empty), the position `restored` that it is to be
/// opened with.
/// REQUIRES: `in` is at rest.
void save_inner(position_writer& w, erased_stream& in, const std::string& restored);

}  // namespace sluice::lib
