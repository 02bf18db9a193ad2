// SPDX-License-Identifier: Apache-2.0
#include "io/messages/message_limits.hpp"

#include "absl/strings/str_cat.h"
#include "io/paths/late.hpp"

namespace sluice::lib {

std::string error_text(const status& why) {
  std::string text = why.to_string();
  const std::string code = absl::StrCat(std::string(to_string(why.code())), ": ");
  if (text.compare(0, code.size(), code) == 0) text.erase(0, code.size());
  if (text.size() > kErrorTextBytesMax) text.resize(kErrorTextBytesMax);
  return text;
}

status peer_status(status_code code, std::string_view text) {
  if (code > status_code::unauthenticated) code = status_code::unknown;
  return {code, text};
}

status check_call(const std::string& method, const std::string& request) {
  if (method.empty() || method.size() > kMethodBytesMax)
    return invalid_argument_error(
        absl::StrCat("the name of a method has 1 to ", kMethodBytesMax, " bytes, this one has ", method.size()));
  if (request.size() <= kCallBytesMax) return {};
  return resource_exhausted_error(
      absl::StrCat(method, ": a request of ", request.size(), " bytes exceeds the limit of ", kCallBytesMax));
}

status check_options(const stream_options& options) {
  if (options.credit_bytes == 0 || options.credit_bytes > kFrameBytesMax)
    return invalid_argument_error(absl::StrCat("credit_bytes must be 1 to ", kFrameBytesMax));
  if (options.frame_bytes_max > kFrameBytesMax)
    return invalid_argument_error(absl::StrCat("frame_bytes_max is ", options.frame_bytes_max,
                                               ", but a frame has at most ", kFrameBytesMax, " bytes"));
  return {};
}

status transport_error(const status& why, const std::string& address, std::string_view what) {
  const std::string place = absl::StrCat(address, ": ", std::string(what));
  if (why.code() == status_code::cancelled) return why;
  if (why.code() == status_code::deadline_exceeded) return detail::late(place);
  return why.with_message(absl::StrCat(place, ": ", error_text(why)));
}

result<std::string> checked_answer(result<std::string> answer) {
  if (!answer.ok() || answer->size() <= kCallBytesMax) return answer;
  return resource_exhausted_error(
      absl::StrCat("an answer of ", answer->size(), " bytes exceeds the limit of ", kCallBytesMax));
}

status check_frame(std::size_t bytes, std::size_t bytes_max) {
  if (bytes <= bytes_max) return {};
  return resource_exhausted_error(
      absl::StrCat("a frame of ", bytes, " bytes exceeds the limit of ", bytes_max, " that the client has set"));
}

}  // namespace sluice::lib
