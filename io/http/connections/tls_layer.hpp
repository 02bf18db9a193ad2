// SPDX-License-Identifier: Apache-2.0
// TLS by OpenSSL, between a connection and HTTP.
//
// OpenSSL reads and writes memory, and the caller's thread moves the bytes through the connection beneath. Records are
// therefore decrypted where they are used, on all workers, and the network may be a simulated one.
// Errors: unauthenticated: the certificate is not valid (expired, for another host, of an untrusted root, …), or the
//         server does not speak TLS; unavailable: the connection was lost, or ended without TLS's closing message.
#pragma once

#include <memory>
#include <string>

#include "io/http/connections/connection_pool.hpp"

namespace sluice::lib::detail {

/// `ca_file`: the trusted roots (PEM); empty: SSL_CERT_FILE, or else the system's. A layer that cannot be created (a
/// missing file, or a build without TLS) reports this at the first connection.
std::shared_ptr<secure_layer> make_tls_layer(const std::string& ca_file);

}  // namespace sluice::lib::detail
