// SPDX-License-Identifier: Apache-2.0
#include "io/http/attempts.hpp"

#include <algorithm>

#include "base/text/redacted.hpp"
#include "io/http/messages/http_text.hpp"
#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib::detail {
namespace {

/// The limit of an error's body. HDFS sends the stack of an exception, and its JSON is valid only as a whole.
constexpr std::size_t kErrorBodyBytes = 16 << 10;
/// The time limit for an error's body, which is used for messages only.
constexpr duration kErrorBodyTime = std::chrono::seconds(1);
/// Requests that succeed within this time are not reported, whatever the number of their attempts.
constexpr duration kSilentRetries = std::chrono::seconds(1);

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

namespace {

/// The message of a failure after its last attempt. The number of the request, which differs from one failure to the next
/// and has no meaning for the reader, comes last.
std::string last_words(const attempted& of, const retry_state& retry, const http_failure& failed,
                       std::string_view late) {
  std::string why(failed.why.message());
  if (failed.request_id.empty())
    return joined(of.what, ", attempt ", retry.attempt(), ": ", why, retry.given_up(), late);
  const std::string id = joined(" (request id ", failed.request_id, ")");
  if (const std::size_t at = why.find(id); at != why.npos) why.erase(at, id.size());
  return joined(of.what, ", attempt ", retry.attempt(), ": ", why, retry.given_up(), late, id);
}

void report_retry(const http_context& context, const retry_state& retry, const http_failure& failed,
                  const attempted& of, duration wait) {
  const duration since = context.time.now() - retry.began();
  if (!context.options.on_retry || since + wait < kSilentRetries) return;
  http_retry next;
  next.file = redacted(of.path);
  next.why = failed.why;
  next.attempt = retry.fruitless() + 1;
  next.attempts_max = retry.attempts_max();
  next.since = since;
  next.wait = wait;
  context.options.on_retry(next);
}

}  // namespace

task<> wait_for_next(http_context& context, retry_state& retry, http_failure failed, attempted of,
                     time_point deadline) {
  auto wait = retry.next_wait(failed, context.time.now());
  std::string_view late;
  if (wait && deadline != kNever && *wait >= deadline - context.time.now()) {
    wait.reset();
    late = "; the deadline leaves no time for another attempt";
  }
  if (!wait) {
    if (failed.why.code() == status_code::cancelled) co_await fail(std::move(failed.why));
    const std::string text = last_words(of, retry, failed, late);
    co_await fail(status(failed.why.code(), text).in_file(of.path, of.offset));
  }
  context.counts.retries.fetch_add(1, std::memory_order_relaxed);
  report_retry(context, retry, failed, of, *wait);
  co_await sleep_for(*wait);
}

}  // namespace sluice::lib::detail
