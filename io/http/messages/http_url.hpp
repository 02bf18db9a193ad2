// SPDX-License-Identifier: Apache-2.0
// The parts of a URL of http:// and https:// that a request needs.
//
//   auto url = parse_http_url("https://objects.example:8443/train/a b.tfrecord?version=3");
//   url->origin();     // "https://objects.example:8443"
//   url->target;       // "/train/a%20b.tfrecord?version=3"
//
// Paths are taken as they are written, but for characters that no request line may have, which are escaped; what
// follows a `#` is for readers of documents, and left out.
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

  /// The host as it stands in addresses: "[::1]".
  std::string bracketed_host() const;
  /// For network::connect: "host:port".
  std::string address() const;
  /// The value of the header Host: without the port if it is the scheme's own.
  std::string authority() const;
  std::string origin() const;
  std::string text() const { return origin() + target; }
  friend bool operator==(const http_url&, const http_url&) = default;
};

/// Errors: invalid_argument, saying what is wrong: another scheme, no host, a port that is none, a user or password.
result<http_url> parse_http_url(std::string_view text);

/// Parses a setting that names a server: a URL without a path. `from`: the name of the setting, for messages.
/// `scheme`: the default scheme, with its "://"; if it is empty, the setting must contain a scheme.
result<http_url> parse_endpoint(std::string_view text, std::string_view from, std::string_view scheme = {});

/// Returns true if the host is this machine, by address or as "localhost". Requests to it cross no network.
bool is_this_machine(const http_url& url);

/// Returns the target of a redirect's Location. Errors: as above, and failed_precondition for a way out of TLS.
result<http_url> follow_redirect(const http_url& from, std::string_view location);

}  // namespace sluice::lib::detail
