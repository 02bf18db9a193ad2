// SPDX-License-Identifier: Apache-2.0
#include "base/text/redacted.hpp"

#include <algorithm>
#include <iterator>

#include "base/text/ascii.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::string_view kHidden = "***";

/// Parameters whose values are secrets, in lower case and alphabetical order.
constexpr std::string_view kSecrets[] = {"access_key",
                                         "access_token",
                                         "api-key",
                                         "api_key",
                                         "apikey",
                                         "auth",
                                         "auth_token",
                                         "awsaccesskeyid",
                                         "client_secret",
                                         "code",
                                         "delegation",
                                         "googleaccessid",
                                         "id_token",
                                         "jwt",
                                         "key",
                                         "key-pair-id",
                                         "passwd",
                                         "password",
                                         "policy",
                                         "private_token",
                                         "refresh_token",
                                         "secret",
                                         "sig",
                                         "signature",
                                         "st",
                                         "token",
                                         "x-amz-credential",
                                         "x-amz-security-token",
                                         "x-amz-signature",
                                         "x-goog-credential",
                                         "x-goog-signature",
                                         "x-goog-security-token"};
/// In alphabetical order.
constexpr std::string_view kNetworkSchemes[] = {"ftp", "gs",  "hdfs",     "http",   "https",
                                                "s3",  "s3a", "swebhdfs", "webhdfs"};
constexpr std::size_t kNameMax = 64;  // including escapes

constexpr bool ends_url(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\'' || c == '<' || c == '>' || c == '`';
}
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr bool begins_parameter(char c) { return c == '?' || c == '&' || c == ';' || c == '#'; }
constexpr bool is_scheme(char c) {
  return (c != '_' && starts_word(c)) || is_digit(c) || c == '+' || c == '-' || c == '.';
}

/// Returns true if `text` ends with the scheme of a network protocol. A path may follow other schemes: "file:/a@b",
/// "C:/a@b".
bool ends_with_network_scheme(std::string_view text) {
  std::size_t begin = text.size();
  while (begin != 0 && is_scheme(text[begin - 1])) --begin;
  std::string scheme;
  for (char c : text.substr(begin)) scheme += lower(c);
  return std::find(std::begin(kNetworkSchemes), std::end(kNetworkSchemes), scheme) != std::end(kNetworkSchemes);
}

/// Returns the start of the host of a URL whose scheme ends before the : before the / at `at`; `at` if no such scheme
/// exists. With a missing or extra slash the text is not a URL, but the part before its @ is still a password.
std::size_t host_begin(std::string_view text, std::size_t at) {
  if (at < 2 || text[at - 1] != ':' || !is_scheme(text[at - 2])) return at;
  const std::size_t end = std::min(text.find_first_not_of('/', at), text.size());
  return end - at == 2 || ends_with_network_scheme(text.substr(0, at - 1)) ? end : at;
}

/// Returns true if `name` is a secret parameter, also with escapes: "X%2DAmz-Signature".
bool is_secret(std::string_view name) {
  if (name.empty() || name.size() > kNameMax) return false;
  std::string plain;
  for (std::size_t i = 0; i != name.size(); ++i) {
    const bool escaped =
        name[i] == '%' && i + 2 < name.size() && hex_digit(name[i + 1]) >= 0 && hex_digit(name[i + 2]) >= 0;
    if (!escaped) {
      plain += lower(name[i]);
      continue;
    }
    plain += lower(static_cast<char>(hex_digit(name[i + 1]) * 16 + hex_digit(name[i + 2])));
    i += 2;
  }
  return std::find(std::begin(kSecrets), std::end(kSecrets), plain) != std::end(kSecrets);
}

/// `at`: the position after a scheme's //. Returns the end of the user and password before the @ of the host. An @ in
/// the path does not count, with one exception: a password that contains a / (not a valid URL, but written all the
/// same) makes the host seem to end early. Then the host's port is not a number.
std::size_t user_end(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end != text.size() && !ends_url(text[end])) ++end;
  const std::string_view url = text.substr(at, end - at);
  const std::string_view authority = url.substr(0, url.find_first_of("/?#"));
  if (const std::size_t sign = authority.rfind('@'); sign != authority.npos) return at + sign;
  const std::size_t colon = authority.find(':');
  if (colon == authority.npos || authority.starts_with("[")) return at;
  const std::string_view port = authority.substr(colon + 1);
  if (std::all_of(port.begin(), port.end(), is_digit)) return at;
  const std::size_t sign = url.rfind('@');
  return sign == url.npos ? at : at + sign;
}

/// Returns the end of the value that begins at `at`. Text after a URL is not part of it.
std::size_t value_end(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end != text.size() && !ends_url(text[end]) && text[end] != '&' && text[end] != ';' && text[end] != '#') ++end;
  const bool is_followed = end != text.size() && static_cast<unsigned char>(text[end]) <= ' ';
  while (end != at && (text[end - 1] == ')' || (is_followed && (text[end - 1] == ':' || text[end - 1] == ',')))) --end;
  return end;
}

}  // namespace

std::string redacted(std::string_view text) {
  if (text.find_first_of("=@") == text.npos) return std::string(text);
  std::string out;
  std::size_t at = 0, kept = 0;  // all text before `kept` is in `out`
  auto hide = [&](std::size_t from, std::size_t to) {
    if (from == to) return;
    out.append(text.substr(kept, from - kept)).append(kHidden);
    kept = to;
  };
  while ((at = text.find_first_of("/?&;#", at)) != text.npos) {
    if (text[at] == '/') {
      const std::size_t host = host_begin(text, at);
      if (host == at) {
        ++at;
        continue;
      }
      at = user_end(text, host);
      hide(host, at);
      continue;
    }
    const std::size_t name = ++at;
    while (at != text.size() && text[at] != '=' && !begins_parameter(text[at]) && !ends_url(text[at])) ++at;
    if (at == text.size() || text[at] != '=' || !is_secret(text.substr(name, at - name))) continue;
    const std::size_t value = ++at;
    at = value_end(text, value);
    hide(value, at);
  }
  return out.append(text.substr(kept));
}

}  // namespace sluice::lib::detail
