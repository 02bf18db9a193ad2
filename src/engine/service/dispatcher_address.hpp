// SPDX-License-Identifier: Apache-2.0
// The check of a dispatcher's address.
#pragma once

#include <string>

namespace sluice::lib {

/// Returns what is wrong with an address; empty: nothing. An empty address is this process, unix:/path a socket; others
/// have a host and a port, also those of transports within a process (local:1).
std::string mistake_in_address(const std::string& address);

}  // namespace sluice::lib
