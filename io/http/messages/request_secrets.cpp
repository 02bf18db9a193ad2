// SPDX-License-Identifier: Apache-2.0
#include "io/http/messages/request_secrets.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/text/redacted.hpp"
#include "io/http/messages/http_text.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::size_t kSecretBytesMin = 8;
/// The limit of a form that is searched. Longer bodies contain data.
constexpr std::size_t kFormBytesMax = 16 << 10;
constexpr std::string_view kSecretHeaders[] = {"authorization", "token",  "secret",     "password",
                                               "key",           "cookie", "credential", "signature"};

using texts = std::vector<std::string>;

void add_secret(std::string_view value, texts& all) {
  if (value.size() >= kSecretBytesMin) all.emplace_back(value);
}

/// Calls part(piece) for the pieces of `text` between the characters `separators`.
template <class F> void each_piece(std::string_view text, std::string_view separators, F part) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    part(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

bool proves_who_asks(std::string_view header) {
  std::string name;
  for (char c : header) name += lower(c);
  return std::any_of(std::begin(kSecretHeaders), std::end(kSecretHeaders),
                     [&](std::string_view word) { return name.find(word) != name.npos; });
}

/// Adds the secrets of "Bearer TOKEN", "Basic BASE64", "AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…".
void add_secrets_of_header(std::string_view value, texts& all) {
  add_secret(value, all);
  const std::size_t scheme_end = value.find(' ');
  if (scheme_end == value.npos) return;
  const std::string_view rest = value.substr(scheme_end + 1);
  add_secret(rest, all);
  each_piece(rest, " ,", [&](std::string_view piece) {
    for (std::string_view name : {"Signature=", "Credential="})
      if (piece.starts_with(name)) add_secret(piece.substr(name.size()), all);
  });
}

void add_secrets_of_query(std::string_view query, texts& all) {
  each_piece(query, "&;", [&](std::string_view pair) {
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos) return;
    const std::string parameter = joined("?", pair);
    if (redacted(parameter) == parameter) return;
    add_secret(pair.substr(equals + 1), all);
    add_secret(percent_decoded(pair.substr(equals + 1)), all);
  });
}

texts secrets_of(const http_request& sent) {
  texts all;
  bool sends_form = false;
  for (const auto& [name, value] : sent.fields) {
    if (proves_who_asks(name)) add_secrets_of_header(value, all);
    sends_form = sends_form || value.starts_with("application/x-www-form-urlencoded");
  }
  const std::size_t query = sent.to.target.find('?');
  if (query != sent.to.target.npos) add_secrets_of_query(std::string_view(sent.to.target).substr(query + 1), all);
  if (sends_form && sent.body.size() <= kFormBytesMax)
    each_piece(std::string_view(sent.body.data(), sent.body.size()), "&", [&](std::string_view pair) {
      const std::size_t equals = std::min(pair.find('='), pair.size() - 1);
      add_secret(pair.substr(equals + 1), all);
      add_secret(percent_decoded(pair.substr(equals + 1), true), all);
    });
  // The longest secret is replaced first, because another secret may be a part of it.
  std::sort(all.begin(), all.end(), [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  return all;
}

}  // namespace

std::string without_secrets(std::string_view text, const http_request& sent) {
  std::string shown(text);
  for (const std::string& secret : secrets_of(sent))
    for (std::size_t at = shown.find(secret); at != shown.npos; at = shown.find(secret, at))
      shown.replace(at, secret.size(), "***");
  return shown;
}

status without_secrets(status why, const http_request& sent) {
  std::string shown = without_secrets(why.message(), sent);
  return shown == why.message() ? std::move(why) : status(why.code(), shown);
}

}  // namespace sluice::lib::detail
