// SPDX-License-Identifier: Apache-2.0
// Hides a request's credentials in answers, because some servers and proxies repeat parts of a request.
//
//   std::string body = without_secrets(answer_body, request);     // before a message quotes any of it
//
// Secrets are the values of headers with credentials (Authorization, tokens, keys, cookies), of such parameters in the
// URL, and of the fields of a form. A secret is replaced by `***`. Values shorter than 8 characters are not replaced.
#pragma once

#include <string>
#include <string_view>

#include "io/http/messages/http_request.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib::detail {

std::string without_secrets(std::string_view text, const http_request& sent);
/// Hides them in the message of a status.
status without_secrets(status why, const http_request& sent);

}  // namespace sluice::lib::detail
