// SPDX-License-Identifier: Apache-2.0
#include "io/http/messages/http_request.hpp"

#include <algorithm>

#include "io/http/messages/http_text.hpp"
#include "sluice/version.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEF";

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

int hex_value(char c) {
  const std::size_t at = kDigits.find(c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

std::string percent_encoded(std::string_view text, bool keep_slash) {
  std::string out;
  for (char c : text) {
    if (is_unreserved(c) || (keep_slash && c == '/')) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte / 16];
    out += kDigits[byte % 16];
  }
  return out;
}

std::string percent_decoded(std::string_view text, bool plus_is_blank) {
  std::string out;
  for (std::size_t i = 0; i != text.size(); ++i) {
    const bool is_escape =
        text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0;
    if (!is_escape) {
      out += plus_is_blank && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
    i += 2;
  }
  return out;
}

void http_request::set(std::string_view name, std::string value) {
  auto same = [name](const field& f) { return same_name(f.first, name); };
  auto found = std::find_if(fields.begin(), fields.end(), same);
  if (found == fields.end()) fields.emplace_back(name, std::move(value));
  else found->second = std::move(value);
}

void http_request::add_query(std::string_view name, std::string_view value) {
  to.target += to.target.find('?') == std::string::npos ? '?' : '&';
  to.target += joined(percent_encoded(name), "=", percent_encoded(value));
}

http_message http_request::message() const {
  http_message m;
  m.head = joined(method, " ", to.target, " HTTP/1.1\r\nHost: ", to.authority(), "\r\nUser-Agent: sluice/",
                  SLUICE_VERSION_STRING, "\r\nAccept: */*\r\n");
  for (const auto& [name, value] : fields) m.head += joined(name, ": ", value, "\r\n");
  const bool may_have_body = method != "GET" && method != "HEAD" && method != "DELETE";
  if (may_have_body || !body.empty()) m.head += joined("Content-Length: ", body.size(), "\r\n");
  m.head += "\r\n";
  m.body = body;
  m.answer_has_body = method != "HEAD";
  m.may_be_sent_twice = method == "GET";
  m.on_new_connection = on_new_connection;
  return m;
}

}  // namespace sluice::lib::detail
