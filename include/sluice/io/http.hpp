// SPDX-License-Identifier: Apache-2.0
// Files of http:// and https://: objects that pipelines read like local files.
//
//   runtime rt;
//   add_http(rt, make_asio_network);                                  // sluice/io/asio_network.hpp
//   auto ds = tfrecord("http://objects.example/train-00.tfrecord");
//
//   http_options own;
//   own.headers = {{"Authorization", "Bearer " + token}};
//   own.ca_file = "company-ca.pem";
//   add_http(rt, make_asio_network, own);
//
// Reads:   the first request asks for the first MiB, and so learns size and version. Later requests read ahead in
//          ranges of 1 MiB, doubling to 8 MiB. Every range names the version of the first answer (If-Match), so that
//          all bytes belong to one version. A changed object is failed_precondition, "the object has changed".
// Retries: after 408, 429, 500, 502, 503, 504, a lost or stalled connection, a body that is too short, and a name that
//   is not found. A server to which no connection has ever been made (refused, or an unknown name) gets attempts for four
//   seconds only. A retry continues at the first missing byte, after waits that grow at random and that Retry-After may
//   prolong. All requests of a runtime share a budget for retries, so that a failing server is not flooded.
// Parallel requests: as many requests to a server as it can handle. The number grows while that increases the bytes per
// second, and is halved when the server answers 429 or 503. If the first byte of a range arrives later than that of 95
// % of all ranges, the range is requested once more on another connection. This happens for at most one request in
// twenty.
// TLS:     certificates are verified, with the system's roots, SSL_CERT_FILE or http_options::ca_file. Verification
//          cannot be disabled.
// Listing: HTTP has no listing. list_files("http://…") of a plain URL yields that URL, if it exists.
// Errors:  a failed read reports URL, byte, range, attempt and the server's request number: not_found (404, 410),
//          permission_denied (403), unauthenticated (401; an invalid certificate, with the reason), failed_precondition
//          (the object has changed), data_loss (an invalid answer: another range than requested, a body of another
//          length), unimplemented (a range request to a server that does not support them; writing; https:// in a build
//          without TLS), unavailable (all attempts failed), deadline_exceeded, invalid_argument (not a URL, other
//          codes).
// See:     docs/internals/decisions/remote_objects.md
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sluice/base/status.hpp"
#include "sluice/io/network.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

/// A request that is about to be sent again.
struct http_retry {
  std::string file;           ///< the URL, without secrets
  status why;                 ///< of the attempt that failed
  std::uint32_t attempt = 0;  ///< the next one; the number of those without progress before it, plus one
  std::uint32_t attempts_max = 0;
  std::chrono::nanoseconds since{0};  ///< the time since the first attempt
  std::chrono::nanoseconds wait{0};   ///< the time until the next one
};

struct http_options {
  /// Added to every request, except to requests that a redirect sends to another host.
  std::vector<std::pair<std::string, std::string>> headers;
  /// A file with the trusted root certificates (PEM). Empty: SSL_CERT_FILE, else the system's roots.
  std::string ca_file;
  /// Requests in flight to one server: initial and maximum number.
  std::uint32_t requests_first = 64;
  std::uint32_t requests_max = 256;
  /// For one range: the number of consecutive attempts that return less than `stall_bytes`. 1: no request is sent again.
  std::uint32_t attempts_max = 8;
  /// Called before a wait for another attempt that ends more than a second after the first one. It must return soon.
  /// Thread: any, also several at once.
  std::function<void(const http_retry&)> on_retry;
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(10);
  /// An answer has stalled if its head, or its next `stall_bytes`, takes longer than this. It is then requested again.
  /// When a body is sent, the limit applies to each 256 KiB.
  std::chrono::nanoseconds stall_timeout = std::chrono::seconds(20);
  std::size_t stall_bytes = 16 << 10;
  bool hedge = true;  ///< repeat the slowest twentieth of the requests
  /// Follows redirects from a server with public addresses to an address of this machine, of a private network or of a
  /// link. Without it such a redirect is failed_precondition.
  bool allow_private_redirects = false;
};

/// Builds the network when the first URL is opened. Called once.
using network_maker = std::function<std::shared_ptr<network>()>;

/// Adds http:// and https:// to the runtime's file systems (files.hpp). Errors: throws invalid_argument: they exist
/// already, or a header is invalid.
void add_http(runtime& rt, network_maker connect, http_options options = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::add_http;
using lib::http_options;
using lib::http_retry;

}  // namespace sluice
