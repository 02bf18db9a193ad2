// SPDX-License-Identifier: Apache-2.0
// The check of a dispatcher's address.
#pragma once

#include <string>

namespace sluice::lib {

/// Returns what is wrong with an address; empty: nothing. Names without a colon belong to transports within a process;
/// unix:/path is a socket.
std::string mistake_in_address(const std::string& address);

}  // namespace sluice::lib
