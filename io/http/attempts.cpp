// SPDX-License-Identifier: Apache-2.0
#include "io/http/attempts.hpp"

#include <algorithm>

#include "io/http/messages/http_text.hpp"
#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib::detail {
namespace {

/// The limit of an error's body. HDFS sends the stack of an exception, and its JSON is valid only as a whole.
constexpr std::size_t kErrorBodyBytes = 16 << 10;
/// The time limit for an error's body, which is used for messages only.
constexpr duration kErrorBodyTime = std::chrono::seconds(1);

}  // namespace

http_failure failure_from(status why, const http_context& context, time_point deadline) {
  http_failure f;
  f.stalled = why.code() == status_code::deadline_exceeded && context.time.now() < deadline;
  f.again = why.code() == status_code::unavailable || f.stalled;
  f.why = std::move(why);
  if (f.stalled) f.why = unavailable_error(joined("the server has stalled: ", f.why.message()));
  return f;
}

task<std::string> error_body(http_exchange& from, const http_context& context, time_point deadline) {
  const time_point until = std::min(deadline, context.time.now() + kErrorBodyTime);
  std::string text(kErrorBodyBytes, '\0');
  std::size_t n = 0;
  while (n < text.size()) {
    auto reading = from.read_body(std::span<char>(text.data() + n, text.size() - n), until);
    auto got = co_await reading.as_result();
    if (!got.ok() || *got == 0) break;
    n += *got;
  }
  text.resize(n);
  co_return text;
}

task<> wait_for_next(http_context& context, retry_state& retry, http_failure failed, attempted of,
                     time_point deadline) {
  auto wait = retry.next_wait(failed);
  std::string_view late;
  if (wait && deadline != kNever && *wait >= deadline - context.time.now()) {
    wait.reset();
    late = "; the deadline leaves no time for another attempt";
  }
  if (!wait) {
    if (failed.why.code() == status_code::cancelled) co_await fail(std::move(failed.why));
    const std::uint32_t tried = retry.attempt();
    const std::string id = failed.request_id.empty() ? std::string() : joined(", request id ", failed.request_id);
    const std::string text =
        joined(of.what, ", attempt ", tried, id, ": ", failed.why.message(), retry.given_up(), late);
    co_await fail(status(failed.why.code(), text).in_file(of.path, of.offset));
  }
  context.counts.retries.fetch_add(1, std::memory_order_relaxed);
  co_await sleep_for(*wait);
}

}  // namespace sluice::lib::detail
