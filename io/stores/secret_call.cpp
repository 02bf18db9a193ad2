// SPDX-License-Identifier: Apache-2.0
#include "io/stores/secret_call.hpp"

#include <memory>
#include <utility>

#include "io/http/messages/http_text.hpp"

namespace sluice::lib::detail {

status unauthenticated(std::string_view what) { return status(status_code::unauthenticated, what); }

status no_secret(std::string_view what, std::string_view source, const status& why) {
  if (why.code() == status_code::cancelled || why.code() == status_code::deadline_exceeded) return why;
  return unauthenticated(joined("no ", what, " from ", source, ": ", why.message()));
}

task<http_answer> secret_call(http_servers& servers, http_request request, std::string_view what,
                              std::chrono::nanoseconds time, time_point deadline) {
  call_options how;
  how.of.what = what;
  how.deadline = deadline;
  how.attempts_max = 3;
  how.is_limited = false;
  how.answer_time = time;
  how.answer_bytes_max = 1 << 20;
  return http_call(unowned(servers), nullptr, std::move(request), std::move(how));
}

}  // namespace sluice::lib::detail
