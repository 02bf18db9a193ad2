// SPDX-License-Identifier: Apache-2.0
#include "io/http/messages/response_check.hpp"

#include <algorithm>
#include <chrono>

#include "base/files/entity_tag.hpp"
#include "io/http/messages/dates.hpp"
#include "io/http/messages/http_text.hpp"

namespace sluice::lib::detail {
namespace {

/// The largest length of an answer's body in a message.
constexpr std::size_t kQuotedBytes = 200;

http_failure wrong(std::string_view what) { return {.why = data_loss_error(what)}; }
http_failure changed(std::string_view how) {
  return {.why = failed_precondition_error(joined("the object has changed since it was opened: ", how))};
}

/// Returns "SlowDown" for "<Error><Code>SlowDown</Code>…".
std::string_view store_code(std::string_view body) {
  const std::size_t at = body.find("<Code>");
  if (at == std::string_view::npos) return {};
  body.remove_prefix(at + 6);
  return body.substr(0, body.find('<'));
}

std::string quoted(std::string_view body) {
  std::string text;
  for (char c : body.substr(0, kQuotedBytes)) text += c >= ' ' && c < 0x7f ? c : ' ';
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text.empty() ? text : joined(": ", text);
}

std::optional<duration> retry_after(const response_head& head) {
  std::uint64_t seconds = 0;
  if (parse_digits(head.retry_after, seconds))
    return std::chrono::seconds(static_cast<std::int64_t>(std::min<std::uint64_t>(seconds, 1'000'000)));
  // A date needs the real clock, which is not part of a run.
  auto when = parse_http_date(head.retry_after);
  if (!when) return {};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::max(duration(0), duration(*when) - std::chrono::duration_cast<duration>(now));
}

status_code meaning(int code) {
  if (code == 404 || code == 410) return status_code::not_found;
  if (code == 401 || code == 407) return status_code::unauthenticated;
  if (code == 403) return status_code::permission_denied;
  if (code == 416) return status_code::out_of_range;
  if (code == 501 || code == 505) return status_code::unimplemented;
  return code >= 500 ? status_code::unavailable : status_code::invalid_argument;
}

bool is_passing(int code) {
  return code == 408 || code == 429 || code == 500 || code == 502 || code == 503 || code == 504;
}

std::optional<http_failure> check_body(const response_head& head, const check_options& how) {
  if (!how.may_be_encoded && !head.content_encoding.empty() && !same_name(head.content_encoding, "identity"))
    return wrong(joined("the body is encoded as ", head.content_encoding, ", though identity was asked for"));
  const bool ends_with_its_range = head.code == 206;
  if (!head.chunked && !head.length && !ends_with_its_range)
    return http_failure{.why = unimplemented_error("the response has neither a length nor chunks, so that its end "
                                                   "cannot be distinguished from a lost connection")};
  return {};
}

}  // namespace

std::string byte_range::header() const { return joined("bytes=", first, "-", last); }

http_failure failure_of(const response_head& head, std::string_view body) {
  http_failure f;
  f.request_id = head.request_id;
  if (head.code == 412) {
    f.why = changed("412, the requested version no longer exists").why;
    return f;
  }
  const std::string_view code = store_code(body);
  f.again = is_passing(head.code) || code == "SlowDown" || code == "RequestTimeout";
  f.throttled = head.code == 429 || head.code == 503 || code == "SlowDown";
  if (f.again) f.retry_after = retry_after(head);
  const std::string text = joined("the server says ", head.status_text(), quoted(body));
  f.why = status(f.again ? status_code::unavailable : meaning(head.code), text);
  return f;
}

std::optional<http_failure> check_range(const response_head& head, byte_range range, const object_pin& pin,
                                        const check_options& how) {
  // Checked first, because the lengths of another version are meaningless.
  if (!pin.version.empty() && !how.version.empty() && opaque_tag(how.version) != opaque_tag(pin.version))
    return changed(joined("its version was ", pin.version, ", and is ", how.version));
  const bool whole = range.first == 0 && range.last + 1 == pin.size_bytes;
  if (head.code == 416) return changed("it has no such bytes any more (416)");
  if (head.code == 200) {
    if (!whole)
      return http_failure{
          .why = unimplemented_error("the server answers a range with the whole object (200 instead of 206)")};
    if (head.length && *head.length != pin.size_bytes)
      return changed(joined("it had ", pin.size_bytes, " bytes, and has ", *head.length));
    return check_body(head, how);
  }
  if (!head.range) return wrong("the answer to a range (206) does not name its range");
  const content_range& got = *head.range;
  if (got.satisfied && got.total != content_range::kUnknownTotal && got.total != pin.size_bytes)
    return changed(joined("it had ", pin.size_bytes, " bytes, and has ", got.total));
  if (!got.satisfied || got.first != range.first || got.last != range.last)
    return wrong(joined("the answer is another range: ", got.to_string()));
  if (head.length && *head.length != range.bytes())
    return wrong(joined("the body has ", *head.length, " bytes, the range ", range.bytes()));
  return check_body(head, how);
}

std::optional<http_failure> check_first(const response_head& head, byte_range range, object_pin& pin,
                                        const check_options& how) {
  pin.version = how.version;
  if (head.code == 200) {
    if (head.length) pin.size_bytes = *head.length;
    return check_body(head, how);
  }
  if (head.range && head.range->total == content_range::kUnknownTotal)
    return http_failure{.why = unimplemented_error("the server does not report the object's length")};
  if (head.range) pin.size_bytes = head.range->total;
  if (head.code == 416) {
    if (head.range && !head.range->satisfied && pin.size_bytes == 0) return {};
    return wrong("the server refuses the first bytes of an object that is not empty (416)");
  }
  if (head.range) range.last = std::min(range.last, pin.size_bytes - 1);
  return check_range(head, range, pin, how);
}

}  // namespace sluice::lib::detail
