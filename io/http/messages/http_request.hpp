// SPDX-License-Identifier: Apache-2.0
// A request before it is written as text, to which stores add credentials.
//
//   http_request r;
//   r.to = url;
//   r.set("Range", "bytes=0-99");
//   co_await exchange.ask(r.message(), …);
//
// Host, User-Agent and the length of the body are added by message().
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/http/messages/http_url.hpp"

namespace sluice::lib::detail {

/// The message sent over the wire. Its creator owns the body, which must stay valid until the answer has arrived.
struct http_message {
  std::string head;
  std::span<const char> body = {};
  bool answer_has_body = true;     ///< false for HEAD
  bool may_be_sent_twice = false;  ///< true for a GET, which may be sent twice at the same time
  bool on_new_connection = false;  ///< see http_request
};

struct http_request {
  using field = std::pair<std::string, std::string>;

  std::string method = "GET";
  http_url to;
  std::vector<field> fields;
  std::span<const char> body = {};
  /// Sends the request on a new connection. A request on a used connection is sent again if the connection is lost
  /// before an answer. This must not happen if the caller has to find out first whether the request was carried out.
  bool on_new_connection = false;

  /// Sets a field, replacing one of that name.
  void set(std::string_view name, std::string value);
  /// Adds `name=value` to the query; the value is escaped.
  void add_query(std::string_view name, std::string_view value);
  http_message message() const;
};

/// Replaces all bytes but letters, digits and -._~ by %XX. `keep_slash`: a `/` stays.
std::string percent_encoded(std::string_view text, bool keep_slash = false);
/// Replaces each %XX by its byte. Invalid escapes stay. `plus_is_blank`: a + becomes a blank, as in forms.
std::string percent_decoded(std::string_view text, bool plus_is_blank = false);

}  // namespace sluice::lib::detail
