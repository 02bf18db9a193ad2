// SPDX-License-Identifier: Apache-2.0
// The position of a stream that a stage opens by itself while it runs: part of the stage's own.
#pragma once

#include <string>

#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

/// Writes where `in` stands; where it is not open yet, what was `restored` for it. Only at rest.
void save_inner(position_writer& w, erased_stream& in, const std::string& restored);

}  // namespace sluice::lib
