// SPDX-License-Identifier: Apache-2.0
// What batches are limited by where it is not a number of rows: batch_by_bytes, batch_by_tokens, pack.
#pragma once

#include <cstdint>

namespace sluice::lib {

/// What is done with an element that alone is more than a batch may have.
enum class oversized : std::uint8_t {
  refuse,    ///< it is a bad element: an error, or, under error_policy::skip, dropped and counted
  alone,     ///< it is a batch of its own
  truncate,  ///< what is too much of it is cut off
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::oversized;

}  // namespace sluice
