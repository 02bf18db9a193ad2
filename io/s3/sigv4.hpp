// SPDX-License-Identifier: Apache-2.0
// Amazon's signatures of requests, version 4 (AWS4-HMAC-SHA256).
//
//   sign_v4(request, {.credentials = c, .region = "us-east-1", .service = "s3", .now_ns = now, .payload = kUnsignedPayload});
//
// The signature covers the method, path, query, Host, and the fields that the request has when it is signed, except
// those that proxies change (Accept-Encoding). Paths and queries must be escaped in the form in which they are sent.
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/http/messages/http_request.hpp"
#include "io/stores/renewed.hpp"

namespace sluice::lib::detail {

struct aws_credentials {
  std::string access_key, secret_key, session_token;
  std::int64_t ends_ns = kNeverEnds;  ///< since 1970
  const std::string& name() const { return access_key; }
};

/// Allowed over TLS only, which protects the body itself.
inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";

struct sigv4_signing {
  aws_credentials credentials;
  std::string region, service;
  std::int64_t now_ns = 0;         ///< since 1970
  std::string payload;             ///< the SHA-256 of the body in hexadecimal, or kUnsignedPayload
  bool sends_payload_hash = true;  ///< in X-Amz-Content-Sha256, which S3 requires
};
void sign_v4(http_request& request, const sigv4_signing& how);

/// Returns "20130524T000000Z".
std::string basic_time(std::int64_t ns_since_1970);

}  // namespace sluice::lib::detail
