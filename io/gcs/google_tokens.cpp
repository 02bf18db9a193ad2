// SPDX-License-Identifier: Apache-2.0
#include "io/gcs/google_tokens.hpp"

#include "io/http/messages/dates.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/stores/digest.hpp"
#include "io/stores/secret_call.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::string_view kScope = "https://www.googleapis.com/auth/devstorage.read_write";
constexpr std::string_view kTokenServer = "https://oauth2.googleapis.com/token";
constexpr std::string_view kGoogleMachine = "metadata.google.internal";
constexpr std::string_view kMachinePath = "/computeMetadata/v1/instance/service-accounts/default/token";

status refused_by_google(std::string_view source, const status& why) { return no_secret("token", source, why); }

/// Returns a JSON string. Valid texts have no control characters; they are left out, and the server refuses the
/// request.
std::string quoted_json(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (static_cast<unsigned char>(c) < ' ') continue;
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out += '"';
}

/// Returns the token server that a file names. A signed claim or a secret is sent to it.
result<http_url> token_server(const answer_tree& file) {
  const std::string_view named = file.at("token_uri");
  auto url = parse_http_url(named.empty() ? kTokenServer : named);
  if (!url.ok()) return invalid_argument_error(joined("its token_uri ", url.why().message()));
  if (!url->tls && !is_this_machine(*url)) return invalid_argument_error("its token_uri is not https://");
  return url;
}

}  // namespace

result<std::string> service_account_claim(const answer_tree& account, const std::string& audience,
                                          std::int64_t now_ns) {
  const std::int64_t now = now_ns / kSecondNs;
  std::string head = R"({"alg":"RS256","typ":"JWT")";
  if (!account.at("private_key_id").empty()) head += joined(",\"kid\":", quoted_json(account.at("private_key_id")));
  const std::string claim =
      joined("{\"iss\":", quoted_json(account.at("client_email")), ",\"scope\":", quoted_json(kScope),
             ",\"aud\":", quoted_json(audience), ",\"iat\":", now, ",\"exp\":", now + 3600, "}");
  const std::string text = joined(base64_url(head + "}"), ".", base64_url(claim));
  auto signature = rs256(std::string(account.at("private_key")), text);
  if (!signature.ok()) return signature.why();
  return joined(text, ".", base64_url(*signature));
}

task<google_token> google_tokens::ask(http_request request, std::string from, std::chrono::nanoseconds time,
                                      time_point deadline) {
  auto asking = secret_call(servers_, std::move(request), "token", time, deadline);
  auto answer = co_await asking.as_result();
  if (!answer.ok()) co_await fail(refused_by_google(from, answer.why()));
  auto parsed = parse_json(answer->body);
  if (!parsed.ok()) co_await fail(refused_by_google(from, parsed.why()));
  google_token token;
  token.text = parsed->at("access_token");
  std::uint64_t seconds = 0;
  const bool ends = parse_digits(parsed->at("expires_in"), seconds) && seconds < 1'000'000'000;
  if (token.text.empty() || !ends)
    co_await fail(refused_by_google(from, data_loss_error("the answer has no access_token and expires_in")));
  token.ends_ns = around_.now_ns() + static_cast<std::int64_t>(seconds) * kSecondNs;
  co_return token;
}

task<google_token> google_tokens::from_file(std::string path, std::string text, time_point deadline) {
  const std::string source = joined("the file ", path);
  auto file = parse_json(text);
  if (!file.ok()) co_await fail(unauthenticated(joined(source, " is no JSON")));
  const std::string type(file->at("type"));
  auto server = token_server(*file);
  if (!server.ok()) co_await fail(refused_by_google(source, server.why()));
  std::string form;
  if (type == "service_account") {
    auto claim = service_account_claim(*file, server->text(), around_.now_ns());
    if (!claim.ok()) co_await fail(refused_by_google(source, claim.why()));
    form = joined("grant_type=", percent_encoded("urn:ietf:params:oauth:grant-type:jwt-bearer"), "&assertion=", *claim);
  } else if (type == "authorized_user") {
    form = joined("grant_type=refresh_token&client_id=", percent_encoded(file->at("client_id")),
                  "&client_secret=", percent_encoded(file->at("client_secret")),
                  "&refresh_token=", percent_encoded(file->at("refresh_token")));
  } else {
    co_await fail(unauthenticated(joined(source, " has the type \"", type,
                                         "\"; service_account and authorized_user are supported. What `gcloud auth "
                                         "print-access-token` prints may be given as CLOUDSDK_AUTH_ACCESS_TOKEN")));
  }
  http_request r;
  r.method = "POST";
  r.to = *std::move(server);
  r.set("Content-Type", "application/x-www-form-urlencoded");
  r.body = std::span<const char>(form);
  auto asking = ask(std::move(r), source, kServiceTime, deadline);
  co_return co_await asking;
}

task<google_token> google_tokens::from_machine(time_point deadline) {
  std::string host = around_.text("GCE_METADATA_HOST");
  if (host.empty()) host = std::string(kGoogleMachine);
  auto url = parse_http_url(joined("http://", host));
  if (!url.ok()) co_await fail(refused_by_google("the machine (GCE_METADATA_HOST)", url.why()));
  http_request r;
  r.to = *std::move(url);
  r.to.target = std::string(kMachinePath);
  r.set("Metadata-Flavor", "Google");
  auto asking = ask(std::move(r), "the machine's account", kMachineTime, deadline);
  co_return co_await asking;
}

task<google_token> google_tokens::fetch(time_point deadline) {
  google_token fixed;
  fixed.text = given_.empty() && file_.empty() ? around_.text("CLOUDSDK_AUTH_ACCESS_TOKEN") : given_;
  if (!fixed.text.empty()) co_return fixed;
  std::string path = file_.empty() ? around_.text("GOOGLE_APPLICATION_CREDENTIALS") : file_;
  const bool is_named = !path.empty();
  if (!is_named) {
    const std::string folder = around_.text("CLOUDSDK_CONFIG");
    path = (folder.empty() ? around_.in_home(".config/gcloud") : folder) + "/application_default_credentials.json";
  }
  auto text = around_.read_file(path);
  if (!text.ok() && is_named) co_await fail(refused_by_google(joined("the file ", path), text.why()));
  if (text.ok()) {
    auto asking = from_file(std::move(path), *std::move(text), deadline);
    co_return co_await asking;
  }
  status why = failed_precondition_error("NO_GCE_CHECK is set");
  if (!around_.flag("NO_GCE_CHECK")) {
    auto asking = from_machine(deadline);
    auto machine = co_await asking.as_result();
    if (machine.ok()) co_return *std::move(machine);
    if (machine.why().code() != status_code::unauthenticated) co_await fail(machine.why());
    why = machine.why();
  }
  co_await fail(unauthenticated(joined(
      "there are no Google credentials: run `gcloud auth application-default login`, or name a key file in "
      "GOOGLE_APPLICATION_CREDENTIALS; a public bucket is read with GS_NO_SIGN_REQUEST=1 (gcs_options::anonymous). "
      "There is no ",
      path, ", and ", why.message())));
  co_return {};
}

}  // namespace sluice::lib::detail
