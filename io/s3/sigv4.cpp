// SPDX-License-Identifier: Apache-2.0
#include "io/s3/sigv4.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "io/http/messages/http_text.hpp"
#include "io/stores/digest.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

/// Returns true for headers that proxies change.
bool is_changed_on_the_way(std::string_view name) {
  for (std::string_view n : {"accept-encoding", "connection", "user-agent", "authorization"})
    if (same_name(name, n)) return true;
  return false;
}

std::string lowered(std::string_view text) {
  std::string out;
  for (char c : text) out += lower(c);
  return out;
}

/// Returns the query with its parts in the order of their bytes, each with a `=`.
std::string canonical_query(std::string_view query) {
  std::vector<std::string> parts;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    std::string part(query.substr(0, end));
    if (part.find('=') == std::string::npos) part += '=';
    parts.push_back(std::move(part));
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
  }
  // By name, then by value. A name sorts after its own prefixes, although = sorts after most characters.
  auto split = [](const std::string& p) {
    const std::size_t at = p.find('=');
    return std::pair<std::string_view, std::string_view>(std::string_view(p).substr(0, at),
                                                         std::string_view(p).substr(at + 1));
  };
  std::sort(parts.begin(), parts.end(), [&](auto& a, auto& b) { return split(a) < split(b); });
  std::string out;
  for (const std::string& p : parts) out += joined(out.empty() ? "" : "&", p);
  return out;
}

struct canonical_fields {
  std::string lines, names;
};
canonical_fields fields_of(const http_request& request) {
  std::vector<http_request::field> all{{"host", request.to.authority()}};
  for (const auto& [name, value] : request.fields)
    if (!is_changed_on_the_way(name)) all.emplace_back(lowered(name), std::string(without_blanks(value)));
  std::sort(all.begin(), all.end());
  canonical_fields out;
  for (const auto& [name, value] : all) {
    out.lines += joined(name, ":", value, "\n");
    out.names += joined(out.names.empty() ? "" : ";", name);
  }
  return out;
}

}  // namespace

std::string basic_time(std::int64_t ns_since_1970) {
  using namespace std::chrono;
  const sys_seconds when(floor<seconds>(nanoseconds(ns_since_1970)));
  const sys_days day = floor<days>(when);
  const year_month_day date(day);
  const hh_mm_ss<seconds> time(when - day);
  char text[64];
  std::snprintf(text, sizeof text, "%04d%02u%02uT%02d%02d%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()));
  return text;
}

void sign_v4(http_request& request, const sigv4_signing& how) {
  const std::string when = basic_time(how.now_ns);
  const std::string day = when.substr(0, 8);
  const std::string scope = joined(day, "/", how.region, "/", how.service, "/aws4_request");
  request.set("X-Amz-Date", when);
  if (how.sends_payload_hash) request.set("X-Amz-Content-Sha256", how.payload);
  if (!how.credentials.session_token.empty()) request.set("X-Amz-Security-Token", how.credentials.session_token);
  const canonical_fields fields = fields_of(request);
  const std::string_view target = request.to.target;
  const std::size_t question = target.find('?');
  const std::string_view query = question == std::string_view::npos ? "" : target.substr(question + 1);
  const std::string canonical = joined(request.method, "\n", target.substr(0, question), "\n", canonical_query(query),
                                       "\n", fields.lines, "\n", fields.names, "\n", how.payload);
  const std::string to_sign = joined(kAlgorithm, "\n", when, "\n", scope, "\n", hexadecimal(sha256(canonical)));
  std::string key = hmac_sha256(joined("AWS4", how.credentials.secret_key), day);
  for (std::string_view part :
       {std::string_view(how.region), std::string_view(how.service), std::string_view("aws4_request")})
    key = hmac_sha256(key, part);
  request.set("Authorization",
              joined(kAlgorithm, " Credential=", how.credentials.access_key, "/", scope,
                     ",SignedHeaders=", fields.names, ",Signature=", hexadecimal(hmac_sha256(key, to_sign))));
}

}  // namespace sluice::lib::detail
