// SPDX-License-Identifier: Apache-2.0
// Credentials of a request that come back: some servers and proxies repeat a request, or a part of it, in what they answer.
//
//   std::string body = without_secrets(answer_body, request);     // before any of it is quoted in a message
//
// Secrets are the values of headers that prove who asks (Authorization, tokens, keys, cookies), those of such parameters of the URL,
// and the values of a form that is sent. What is hidden becomes `***`. Values shorter than 8 characters stay.
#pragma once

#include <string>
#include <string_view>

#include "io/http/messages/http_request.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib::detail {

std::string without_secrets(std::string_view text, const http_request& sent);
/// The same for the message of a status.
status without_secrets(status why, const http_request& sent);

}  // namespace sluice::lib::detail
