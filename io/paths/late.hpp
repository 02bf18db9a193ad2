// SPDX-License-Identifier: Apache-2.0
// The error of calls whose deadline has passed, shared by all implementations of the network and the metadata store.
#pragma once

#include <string>

#include "sluice/base/status.hpp"

namespace sluice::lib::detail {

/// `what`: the call, for the message: "a:1: read".
inline status late(const std::string& what) {
  return status(status_code::deadline_exceeded, what + ": no answer until the deadline");
}

}  // namespace sluice::lib::detail
