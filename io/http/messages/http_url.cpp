// SPDX-License-Identifier: Apache-2.0
#include "io/http/messages/http_url.hpp"

#include <arpa/inet.h>

#include "base/text/redacted.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/http/messages/printable.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";

constexpr std::string_view kHasUser = "it has a user or a password";
/// The largest length of a redirect's target in a message.
constexpr std::size_t kPlaceBytes = 300;

/// Returns the error, to which the caller adds the URL's origin.
status no_url(std::string_view what) { return invalid_argument_error(what); }

std::uint16_t own_port(bool tls) { return tls ? 443 : 80; }

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte < 0x7f && c != '"' && c != '<' && c != '>' && c != '\\' && c != '^' && c != '`' &&
         c != '{' && c != '|' && c != '}';
}

void append_escaped(std::string& to, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  to += '%';
  to += kDigits[byte / 16];
  to += kDigits[byte % 16];
}

std::string escaped_target(std::string_view text) {
  std::string out;
  if (text.empty() || text[0] != '/') out = "/";
  for (char c : text) {
    if (is_plain(c)) out += c;
    else append_escaped(out, static_cast<unsigned char>(c));
  }
  return out;
}

status take_port(std::string_view digits, http_url& to) {
  std::uint64_t port = 0;
  if (!parse_digits(digits, port))  // the text is not quoted: it may be a password with a / in it
    return no_url("the text after the : of its host is no port");
  if (port == 0 || port > 65535) return no_url(joined("\"", digits, "\" is no port"));
  to.port = static_cast<std::uint16_t>(port);
  return {};
}

/// Parses "host", "host:port", "[v6]", "[v6]:port".
status take_authority(std::string_view text, http_url& to) {
  if (text.find('@') != std::string_view::npos) return no_url(kHasUser);
  std::string_view rest;
  if (text.starts_with("[")) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return no_url("a [ without its ]");
    to.host = std::string(text.substr(1, end - 1));
    rest = text.substr(end + 1);
  } else {
    const std::size_t colon = text.find(':');
    to.host = std::string(text.substr(0, colon));
    if (colon != std::string_view::npos) rest = text.substr(colon);
  }
  if (to.host.empty()) return no_url("it names no host");
  for (char& c : to.host) {
    c = lower(c);
    const bool known = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_' || c == ':';
    if (!known) return no_url("its host has a character that no host name has");
  }
  if (rest.empty()) return {};
  if (rest[0] != ':') return no_url("something else than a port follows the host");
  return take_port(rest.substr(1), to);
}

result<http_url> parse_parts(std::string_view text) {
  http_url url;
  if (begins_with_name(text, kHttps)) url.tls = true;
  else if (!begins_with_name(text, kHttp)) return no_url("it begins with neither http:// nor https://");
  text.remove_prefix(url.tls ? kHttps.size() : kHttp.size());
  text = text.substr(0, text.find('#'));
  const std::size_t end = text.find_first_of("/?");
  url.port = own_port(url.tls);
  status why = take_authority(text.substr(0, end), url);
  if (!why.ok()) return why;
  url.target = escaped_target(end == std::string_view::npos ? std::string_view() : text.substr(end));
  return url;
}

/// Follows `to`, a complete URL that the server has sent.
result<http_url> follow_whole(const http_url& from, const std::string& to) {
  auto url = parse_parts(to);
  if (!url.ok())
    return failed_precondition_error(joined("the server redirects to ", printable(redacted(to)).substr(0, kPlaceBytes),
                                            ", which is not accepted: ", url.why().message()));
  if (from.tls && !url->tls) return failed_precondition_error(joined("is redirected out of TLS, to ", url->origin()));
  return url;
}

/// Removes the names . and .. from the path of `target`, which begins with a / (RFC 3986, 5.2.4).
std::string without_dots(std::string_view target) {
  const std::size_t end = std::min(target.find('?'), target.size());
  std::string_view path = target.substr(0, end);
  std::string kept;
  while (!path.empty()) {
    const std::size_t next = std::min(path.find('/', 1), path.size());
    const std::string_view name = path.substr(1, next - 1);
    const bool is_last = next == path.size();
    if (name == "..") kept.resize(kept.empty() ? 0 : kept.rfind('/'));
    if (name != "." && name != "..") kept.append(path.substr(0, next));
    else if (is_last) kept += '/';
    path.remove_prefix(next);
  }
  return joined(kept, target.substr(end));
}

}  // namespace

std::string http_url::bracketed_host() const {
  return host.find(':') == std::string::npos ? host : joined("[", host, "]");
}
std::string http_url::address() const { return joined(bracketed_host(), ":", port); }
std::string http_url::authority() const { return port == own_port(tls) ? bracketed_host() : address(); }
std::string http_url::origin() const { return joined(tls ? kHttps : kHttp, authority()); }

result<http_url> parse_http_url(std::string_view text) {
  auto url = parse_parts(text);
  if (url.ok()) return url;
  const std::string_view why = url.why().message();
  const std::string_view advice = why == kHasUser ? "; give these as a header (http_options::headers)" : "";
  return invalid_argument_error(joined("is no URL for this: ", why, advice));
}

result<http_url> parse_endpoint(std::string_view text, std::string_view from, std::string_view scheme) {
  const bool has_scheme = text.find("://") != std::string_view::npos;
  auto url = parse_http_url(has_scheme ? std::string(text) : joined(scheme, text));
  // A status hides credentials only in a text that it recognizes as a URL.
  const std::size_t host = has_scheme ? 0 : text.substr(0, text.find('/')).rfind('@') + 1;
  const std::string shown = joined("\"", host ? "***@" : "", text.substr(host), "\"");
  if (!url.ok()) return invalid_argument_error(joined(from, " ", url.why().message(), ": ", shown));
  if (url->target != "/") return invalid_argument_error(joined(from, " has a path: ", shown));
  return url;
}

bool is_this_machine(const http_url& url) {
  in_addr address{};  // a host name may begin with "127.", too
  if (::inet_pton(AF_INET, url.host.c_str(), &address) == 1) return ntohl(address.s_addr) >> 24 == 127;
  return url.host == "localhost" || url.host == "::1";
}

result<http_url> follow_redirect(const http_url& from, std::string_view location) {
  if (location.empty()) return failed_precondition_error("the server redirects without a Location");
  if (location.substr(0, location.find_first_of("/?")).find(':') != std::string_view::npos)
    return follow_whole(from, std::string(location));
  location = location.substr(0, location.find('#'));
  if (location.starts_with("//")) return follow_whole(from, joined(from.tls ? "https:" : "http:", location));
  http_url to = from;
  if (location.starts_with("/")) {
    to.target = escaped_target(without_dots(location));
    return to;
  }
  std::string_view base = from.target;
  base = base.substr(0, base.find('?'));
  if (!location.starts_with("?")) base = base.substr(0, base.rfind('/') + 1);
  to.target = escaped_target(without_dots(joined(base, location)));
  return to;
}

}  // namespace sluice::lib::detail
