// SPDX-License-Identifier: Apache-2.0
#include "io/http/messages/response_head.hpp"

#include "io/http/messages/http_text.hpp"
#include "io/http/messages/printable.hpp"

namespace sluice::lib::detail {
namespace {

status take_once(std::string& to, std::string_view name, std::string_view value) {
  if (!to.empty() && to != value)
    return data_loss_error(joined("the response has two fields ", name, ", which differ"));
  to = std::string(value);
  return {};
}

void keep_of_store(std::vector<std::pair<std::string, std::string>>& to, std::string_view name,
                   std::string_view value) {
  std::string lowered;
  for (char c : name) lowered += lower(c);
  for (auto& [of, had] : to)
    if (of == lowered) {
      had += joined(",", value);
      return;
    }
  to.emplace_back(std::move(lowered), std::string(value));
}

}  // namespace

std::string_view response_head::field(std::string_view name) const {
  for (const auto& [of, value] : of_stores)
    if (of == name) return value;
  return {};
}

std::string content_range::to_string() const {
  const std::string all = total == kUnknownTotal ? "*" : std::to_string(total);
  return satisfied ? joined("bytes ", first, "-", last, "/", all) : joined("bytes */", all);
}

std::string response_head::status_text() const {
  return reason.empty() ? std::to_string(code) : joined(code, " ", printable(reason));
}

result<content_range> parse_content_range(std::string_view text) {
  const status wrong = data_loss_error(joined("Content-Range is \"", text, "\", which is no range of bytes"));
  constexpr std::string_view kUnit = "bytes ";
  if (!begins_with_name(text, kUnit)) return wrong;
  std::string_view rest = without_blanks(text.substr(kUnit.size()));
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return wrong;
  const std::string_view bytes = rest.substr(0, slash), total = rest.substr(slash + 1);
  content_range r;
  if (total != "*" && !parse_digits(total, r.total)) return wrong;
  r.satisfied = bytes != "*";
  if (!r.satisfied) return r;
  const std::size_t dash = bytes.find('-');
  if (dash == std::string_view::npos || !parse_digits(bytes.substr(0, dash), r.first) ||
      !parse_digits(bytes.substr(dash + 1), r.last))
    return wrong;
  if (r.last < r.first || (r.total != content_range::kUnknownTotal && r.last >= r.total)) return wrong;
  return r;
}

status response_head::take(std::string_view name, std::string_view value) {
  value = without_blanks(value);
  if (same_name(name, "content-range")) {
    auto parsed = parse_content_range(value);
    if (!parsed.ok()) return parsed.why();
    if (range && *range != *parsed) return data_loss_error("the response has two fields Content-Range, which differ");
    range = *std::move(parsed);
    return {};
  }
  if (same_name(name, "content-length")) {
    std::uint64_t n = 0;
    if (!parse_digits(value, n))
      return data_loss_error(joined("Content-Length is \"", value, "\", which is no length"));
    if (length && *length != n) return data_loss_error("the response has two fields Content-Length, which differ");
    length = n;
    return {};
  }
  struct field {
    std::string_view name;
    std::string response_head::* to;
  };
  static constexpr field kFields[] = {{"etag", &response_head::etag},
                                      {"last-modified", &response_head::last_modified},
                                      {"location", &response_head::location},
                                      {"retry-after", &response_head::retry_after},
                                      {"content-encoding", &response_head::content_encoding},
                                      {"transfer-encoding", &response_head::transfer_encoding}};
  for (const field& f : kFields)
    if (same_name(name, f.name)) return take_once(this->*f.to, f.name, value);
  if (begins_with_name(name, "x-amz-") || begins_with_name(name, "x-goog-") || same_name(name, "date") ||
      same_name(name, "range") || same_name(name, "www-authenticate"))
    keep_of_store(of_stores, name, value);
  // The headers in which servers send the number of a request in their logs; the first one is used.
  for (std::string_view id : {"x-request-id", "x-amz-request-id", "x-guploader-uploadid", "x-ms-request-id", "cf-ray"})
    if (request_id.empty() && same_name(name, id)) request_id = std::string(value);
  return {};
}

}  // namespace sluice::lib::detail
