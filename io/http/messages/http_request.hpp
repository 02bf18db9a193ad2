// SPDX-License-Identifier: Apache-2.0
// A request, before it is text: stores add to it what proves who asks.
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

/// The message sent over the wire. Its maker owns the body, which must stay valid until the answer has come.
struct http_message {
  std::string head;
  std::span<const char> body = {};
  bool answer_has_body = true;     ///< the answer to HEAD has none
  bool may_be_sent_twice = false;  ///< at the same time: a GET, which another one may overtake
  bool on_new_connection = false;  ///< see http_request
};

struct http_request {
  using field = std::pair<std::string, std::string>;

  std::string method = "GET";
  http_url to;
  std::vector<field> fields;
  std::span<const char> body = {};
  /// A connection that has served before may be lost before anything is heard, and what was asked on it is asked again at once. This
  /// is not to be: whether it was carried out has to be found out first.
  bool on_new_connection = false;

  /// Replaces the field, if there is one of that name.
  void set(std::string_view name, std::string value);
  /// Adds `name=value` to the query; the value is escaped.
  void add_query(std::string_view name, std::string_view value);
  http_message message() const;
};

/// All bytes but letters, digits and -._~ become %XX; a `/` stays where `keep_slash` says so.
std::string percent_encoded(std::string_view text, bool keep_slash = false);
/// The reverse. `plus_is_blank`: as forms have it. What is no escape stays as it is.
std::string percent_decoded(std::string_view text, bool plus_is_blank = false);

}  // namespace sluice::lib::detail
