// SPDX-License-Identifier: Apache-2.0
// Prevents servers of the public internet from redirecting to addresses that they cannot reach themselves: this
// machine, its network, and the metadata services of clouds (169.254.169.254).
#pragma once

#include <string>

#include "io/http/http_servers.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/io/deadline.hpp"

namespace sluice::lib::detail {

/// Returns true if an address "host:port" is on the public internet. Returns false for addresses of a machine, a
/// private network, a link, or a group, also if an IPv6 address contains such an IPv4 address. Returns true for text
/// that is not an IP address.
bool is_public_address(const std::string& address);

/// Returns ok unless all addresses of `from` are public and one of `to` is not. The addresses are those that
/// connections use. Errors: failed_precondition, naming `to` and the address.
task<status> check_redirect(http_servers& servers, http_url from, http_url to, time_point deadline);

}  // namespace sluice::lib::detail
