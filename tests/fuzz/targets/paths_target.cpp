// SPDX-License-Identifier: Apache-2.0
// Patterns, schemes and URLs: a pattern matches what a slow reading of its rules says, and a URL is read as it was written.
#include <fnmatch.h>

#include <algorithm>
#include <vector>

#include "fuzz/target.hpp"
#include "io/paths/file_router.hpp"
#include "io/paths/glob.hpp"

#if SLUICE_HAVE_HTTP
#include "io/http/messages/http_url.hpp"
#endif

namespace sluice::lib::fuzz {

namespace {

using detail::glob_name;
using detail::glob_pattern;
using names = std::vector<std::string>;

names names_of(std::string_view path) {
  names all(1);
  for (char c : path) {
    if (c == '/') all.emplace_back();
    else all.back() += c;
  }
  return all;
}

/// The rule of `**`, by trying everything. `from`, `at`: what is left of pattern and path.
bool matches_slowly(const std::vector<glob_name>& pattern, std::size_t from, const names& path, std::size_t at) {
  if (from == pattern.size()) return at == path.size();
  if (at == path.size()) return false;
  const bool is_match = pattern[from].matches(path[at]);
  if (!pattern[from].is_folders()) return is_match && matches_slowly(pattern, from + 1, path, at + 1);
  if (from + 1 == pattern.size())
    return is_match && (at + 1 == path.size() || matches_slowly(pattern, from, path, at + 1));
  return matches_slowly(pattern, from + 1, path, at) || (is_match && matches_slowly(pattern, from, path, at + 1));
}

/// May a name's pattern be given to fnmatch(3), which has another opinion of sets without an end and of classes nobody knows?
bool is_known_to_all(std::string_view name) {
  return name.find_first_of("[\\") == name.npos && name.find('\0') == name.npos && name.size() < 20;
}

void check_pattern(const std::string& text, const std::string& path) {
  const glob_pattern pattern(text);
  const bool is_match = pattern.matches(path);
  const names parts = names_of(path);
  if (parts.size() < 8 && pattern.names().size() < 8)
    expect(is_match == matches_slowly(pattern.names(), 0, parts, 0), "a pattern does not match by its rules");
  if (pattern.is_plain()) expect(is_match == (path == pattern.prefix()), "a plain pattern is not its path");
  if (is_match) {
    expect(path.starts_with(pattern.prefix()), "a match does not begin as it should");
    for (std::size_t i = 0; i != path.size(); ++i)
      if (path[i] == '/') expect(pattern.may_match_in(path.substr(0, i + 1)), "a match lies where none may be");
  }
  for (const std::string& name : names_of(text)) {
    if (!is_known_to_all(name)) continue;
    const glob_name one(name);
    for (const std::string& part : parts) {
      if (part.empty() || part.find('\0') != part.npos) continue;
      const bool theirs = ::fnmatch(name.c_str(), part.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0;
      expect(one.matches(part) == theirs, "a name matches where fnmatch says otherwise");
    }
  }
}

void check_scheme(const std::string& path) {
  const std::string scheme = detail::scheme_of(path);
  if (scheme.empty()) return;
  expect(path.size() > scheme.size() && path[scheme.size()] == ':', "a scheme is not what stands before the colon");
  for (char c : scheme) expect(!(c >= 'A' && c <= 'Z') && c > ' ' && c < '\x7f', "a scheme has what none has");
}

#if SLUICE_HAVE_HTTP

void check_same(const detail::http_url& url, const detail::http_url& again) {
  expect(again.tls == url.tls && again.host == url.host && again.port == url.port && again.target == url.target,
         "a URL that is written is read as another one");
}

void check_url(const std::string& text, const std::string& location) {
  auto url = detail::parse_http_url(text);
  if (!url.ok()) {
    expect(url.why().code() == status_code::invalid_argument, "a broken URL is told as " + url.why().to_string());
    return;
  }
  expect(!url->host.empty() && url->port != 0, "a URL without a host or a port");
  for (char c : url->target) expect(c > ' ' && c < '\x7f', "a target has what no request line may have");
  expect(url->target.starts_with("/"), "a target is no path");
  auto again = detail::parse_http_url(url->text());
  expect(again.ok(), "a URL that is written cannot be read");
  check_same(*url, *again);
  auto to = detail::follow_redirect(*url, location);
  if (to.ok()) expect(!url->tls || to->tls, "a redirect leads out of TLS");
}

#else

void check_url(const std::string&, const std::string&) {}

#endif

}  // namespace

void paths(std::string_view bytes) {
  input in(bytes);
  const std::uint8_t mode = in.byte();
  const std::string first(in.take(in.byte())), second(in.rest());
  if (mode % 2) return check_pattern(first, second);
  check_scheme(first);
  check_url(mode % 4 ? "http://" + first : first, second);
}

}  // namespace sluice::lib::fuzz
