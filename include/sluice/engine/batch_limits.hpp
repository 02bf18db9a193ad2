// SPDX-License-Identifier: Apache-2.0
// Options of operators that limit batches by something other than rows: batch_by_bytes, batch_by_tokens, pack.
#pragma once

#include <cstdint>

namespace sluice::lib {

/// The treatment of an element that alone exceeds the limit of a batch.
enum class oversized : std::uint8_t {
  refuse,    ///< it is a bad element: an error, or, under error_policy::skip, dropped and counted
  alone,     ///< it becomes a batch of its own
  truncate,  ///< it is truncated to the limit
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::oversized;

}  // namespace sluice
