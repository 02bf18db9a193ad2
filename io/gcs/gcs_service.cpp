// SPDX-License-Identifier: Apache-2.0
#include "io/gcs/gcs_service.hpp"

#include <algorithm>

#include "io/http/messages/http_text.hpp"
#include "io/http/messages/printable.hpp"
#include "io/stores/stored_crc32c.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::string_view kBearer = "Bearer ";

std::string_view token_of(const http_request& sent) {
  for (const auto& [name, value] : sent.fields)
    if (name == "Authorization") return std::string_view(value).substr(kBearer.size());
  return {};
}

struct error_text {
  std::string reason, message;
};
/// Reads the error from JSON's {"error": {"message": …, "errors": [{"reason": …}]}}, or from XML's <Error>.
error_text error_of_body(std::string_view body) {
  error_text t;
  auto json = parse_json(body);
  const answer_tree* error = json.ok() ? json->find("error") : nullptr;
  if (error) {
    t.message = error->at("message");
    const answer_tree* errors = error->find("errors");
    if (errors && !errors->children.empty()) t.reason = errors->children.front().at("reason");
  } else if (auto xml = parse_xml(body); xml.ok() && xml->name == "Error") {
    t.reason = xml->at("Code");
    t.message = xml->at("Message");
  } else {
    for (char c : body.substr(0, 200)) t.message += c >= ' ' && c < 0x7f ? c : ' ';
  }
  return t;
}

}  // namespace

task<> gcs_service::sign(http_request& request, time_point deadline) {
  if (!tokens_) co_return;
  auto getting = tokens_->get(deadline);
  const google_token token = co_await getting;
  const bool is_text = std::all_of(token.text.begin(), token.text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!is_text) co_await fail(status(status_code::unauthenticated, "the token has a character that no token has"));
  request.set("Authorization", joined(kBearer, token.text));
}

void gcs_service::ask_for_version(const object_pin& pin, http_request& request) const {
  std::uint64_t generation = 0;
  if (parse_digits(pin.version, generation)) request.add_query("ifGenerationMatch", pin.version);
}

std::string gcs_service::version_of(const response_head& head) const {
  return std::string(head.field("x-goog-generation"));
}

std::optional<std::uint32_t> gcs_service::crc32c_of(const response_head& head) const {
  return crc32c_of_hashes(head.field("x-goog-hash"));
}

std::optional<http_failure> gcs_service::explain(const http_request& sent, const response_head& head,
                                                 std::string_view body) {
  http_failure f = failure_of(head, body);
  if (head.code == 412 || head.code == 416) return f;
  if (head.code == 401 && tokens_) f.at_once = tokens_->forget(token_of(sent));
  std::string advice;
  if (head.code == 401)
    advice = "; the token has expired or is unknown: log in again (gcloud auth application-default login)";
  if (head.code == 403 || (head.code == 401 && !tokens_))
    advice = tokens_ ? "; the account is valid and lacks a permission: it needs a role on the bucket, such as Storage "
                       "Object Viewer or Storage Object User"
                     : "; the request was anonymous, and the bucket is not public: give credentials, without "
                       "GS_NO_SIGN_REQUEST";
  if (f.again) advice.clear();
  const error_text t = error_of_body(body);
  const std::string words = joined(t.reason.empty() ? "" : ": ", t.reason, t.message.empty() ? "" : ": ", t.message);
  status_code meaning = f.why.code();
  if (head.is_redirect()) meaning = status_code::failed_precondition;
  f.why = status(meaning, joined("the server says ", head.status_text(), printable(words), advice));
  return f;
}

}  // namespace sluice::lib::detail
