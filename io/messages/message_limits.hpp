// SPDX-License-Identifier: Apache-2.0
// The limits that all message transports check, and the errors of exceeding them, which name the server and the call.
#pragma once

#include <string>
#include <string_view>

#include "sluice/io/transport.hpp"

namespace sluice::lib {

/// Refuses a method or request that is too large, before anything is sent.
status check_call(const std::string& method, const std::string& request);
/// Refuses limits of a stream that are too large or make no sense.
status check_options(const stream_options& options);
/// Replaces an answer that is too large by an error.
result<std::string> checked_answer(result<std::string> answer);
/// Refuses a frame above the limit of the stream's client.
status check_frame(std::size_t bytes, std::size_t bytes_max);

inline constexpr std::size_t kErrorTextBytesMax = std::size_t{64} << 10;
/// Returns the text of an error for the other side: its message with stage and file, without the code.
std::string error_text(const status& why);
/// The status of a code and text that came from a peer.
status peer_status(status_code code, std::string_view text);
/// The error of the transport for a call or stream: names the server and what was called.
status transport_error(const status& why, const std::string& address, std::string_view what);

}  // namespace sluice::lib
