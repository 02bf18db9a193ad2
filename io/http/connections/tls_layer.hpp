// SPDX-License-Identifier: Apache-2.0
// TLS by OpenSSL, between a connection and HTTP.
//
// OpenSSL reads and writes memory; the bytes go through the connection beneath, on the caller's thread. So records are
// decrypted where they are used, on all workers, and the network may be a simulated one.
// Errors: unauthenticated: the certificate does not hold (expired, for another host, of a root that is not trusted, …), or what
//         answers speaks no TLS; unavailable: the connection was lost, or ended without TLS's own end.
#pragma once

#include <memory>
#include <string>

#include "io/http/connections/connection_pool.hpp"

namespace sluice::lib::detail {

/// `ca_file`: the roots that are trusted (PEM); empty: SSL_CERT_FILE, else the system's. A layer that cannot be made (no such file, not
/// built in) says so at the first connection.
std::shared_ptr<secure_layer> make_tls_layer(const std::string& ca_file);

}  // namespace sluice::lib::detail
