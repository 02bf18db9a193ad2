// SPDX-License-Identifier: Apache-2.0
// Files of http:// and https://: objects that pipelines read as they read local files.
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
// Reads:   the first one asks for the first MiB, and so learns size and version; what is read ahead of a consumer are ranges of 1
//          MiB, doubling to 8 MiB. Every range names the version that the first answer told (If-Match), so that the bytes are
//          all of one version: a changed object is failed_precondition, "the object has changed".
// Asks again: after 408, 429, 500, 502, 503, 504, a lost or stalled connection, a body that is too short and a name that
//          is not found, from the byte it has come to, after waits that grow at random and that Retry-After may
//          prolong. All requests of a runtime share a budget for that, so that a server that is down is not asked ever more.
// At once: as many requests to a server as it takes: the number grows while that brings more bytes a second, and is halved
//          when the server says 429 or 503. A range whose first byte is later than 95 % of them is asked for once more on
//          another connection, at most for one request in twenty.
// TLS:     certificates are verified, by the system's roots, SSL_CERT_FILE or http_options::ca_file; there is no switch for that.
// Listing: HTTP has none. list_files("http://…") of a plain URL gives that URL, if it exists.
// Errors:  of a read, naming URL, byte, range, attempt and the server's number of the request: not_found (404, 410),
//          permission_denied (403), unauthenticated (401; a certificate that does not hold, saying why), failed_precondition (the object
//          has changed), data_loss (an answer that breaks the rules: another range than was asked for, a body of another
//          length), unimplemented (a server that does no ranges, asked for one; writing; https:// where that was not
//          built), unavailable (all attempts failed), deadline_exceeded, invalid_argument (what is no URL, other codes).
// See:     docs/internals/decisions/remote_objects.md
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sluice/io/network.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

struct http_options {
  /// Added to every request, but not to those that a redirect sends to another host.
  std::vector<std::pair<std::string, std::string>> headers;
  /// Certificates (PEM) of the roots that are trusted, instead of the system's; empty: SSL_CERT_FILE, else the system's.
  std::string ca_file;
  /// Requests in flight to one server: to begin with, and at most.
  std::uint32_t requests_first = 64;
  std::uint32_t requests_max = 256;
  std::uint32_t attempts_max = 8;  ///< for one range, in a row that bring less than `stall_bytes`
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(10);
  /// An answer whose head, or whose next `stall_bytes`, take longer than this has stalled, and is asked for again. Of a
  /// body that is sent it is 256 KiB.
  std::chrono::nanoseconds stall_timeout = std::chrono::seconds(20);
  std::size_t stall_bytes = 16 << 10;
  bool hedge = true;  ///< ask once more for the slowest twentieth
  /// Follows a redirect from a server with public addresses to one with an address of this machine, of a private network or of a
  /// link. Without it such a redirect is failed_precondition.
  bool allow_private_redirects = false;
};

/// Makes the network when the first URL is opened. Called once.
using network_maker = std::function<std::shared_ptr<network>()>;

/// Adds http:// and https:// to the runtime's file systems (files.hpp). Errors: throws invalid_argument: they are there already, or a
/// header is none.
void add_http(runtime& rt, network_maker connect, http_options options = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::add_http;
using lib::http_options;

}  // namespace sluice
