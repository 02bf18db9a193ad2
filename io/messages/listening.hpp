// SPDX-License-Identifier: Apache-2.0
// Addresses at which a server of any transport listens: sockets that a process has left, and reasons for failures.
// Thread: any. Costs: a few system calls; why_not_listening() may ask name servers.
#pragma once

#include <string>
#include <string_view>

#include "sluice/base/result.hpp"

namespace sluice::lib {

inline constexpr std::string_view kUnixPrefix = "unix:";

/// Removes the socket file that a process has left when it was killed. Returns false if a process listens there.
bool remove_abandoned_socket(const std::string& path) noexcept;
/// "ADDRESS: listen: Address already in use", unavailable.
status listen_error(const std::string& address, int error_number);
/// Returns why a server cannot listen at "HOST:PORT" or "unix:PATH", for a library that does not report it: tries it.
status why_not_listening(const std::string& address);

}  // namespace sluice::lib
