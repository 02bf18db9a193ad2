// SPDX-License-Identifier: Apache-2.0
// The parts of an http:// or https:// URL that a request needs.
//
//   auto url = parse_http_url("https://objects.example:8443/train/a b.tfrecord?version=3");
//   url->origin();     // "https://objects.example:8443"
//   url->target;       // "/train/a%20b.tfrecord?version=3"
//
// Paths are used as they are written. Characters that a request line must not contain are escaped. The fragment after a
// `#` is left out, because servers do not receive it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/base/result.hpp"

namespace sluice::lib::detail {

struct http_url {
  bool tls = false;
  std::string host;  ///< in lower case, IPv6 addresses without brackets
  std::uint16_t port = 0;
  std::string target;  ///< path and query

  /// Returns the host as it is written in addresses: "[::1]".
  std::string bracketed_host() const;
  /// Returns "host:port", for network::connect.
  std::string address() const;
  /// Returns the value of the header Host, without the port if it is the scheme's default.
  std::string authority() const;
  std::string origin() const;
  std::string text() const { return origin() + target; }
  friend bool operator==(const http_url&, const http_url&) = default;
};

/// Errors: invalid_argument, describing the fault: another scheme, no host, an invalid port, a user or password.
result<http_url> parse_http_url(std::string_view text);

/// Parses a setting that names a server: a URL without a path. `from`: the name of the setting, for messages.
/// `scheme`: the default scheme, with its "://"; if it is empty, the setting must contain a scheme.
result<http_url> parse_endpoint(std::string_view text, std::string_view from, std::string_view scheme = {});

/// Returns true if the host is this machine, by address or as "localhost". Requests to it cross no network.
bool is_this_machine(const http_url& url);

/// Returns the target of a redirect's Location. Errors: as above, and failed_precondition if it leaves TLS.
result<http_url> follow_redirect(const http_url& from, std::string_view location);

}  // namespace sluice::lib::detail
