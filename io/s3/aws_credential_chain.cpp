// SPDX-License-Identifier: Apache-2.0
#include "io/s3/aws_credential_chain.hpp"

#include "io/http/messages/dates.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/stores/secret_call.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::string_view kMachine = "http://169.254.169.254";
constexpr std::string_view kContainer = "http://169.254.170.2";

status refused_by(std::string_view source, const status& why) { return no_secret("credentials", source, why); }

/// Returns true if the URL of the container's service uses TLS or belongs to this machine or its metadata service. Any
/// other server would receive the token.
bool may_be_reported(const http_url& url) {
  return url.tls || is_this_machine(url) || url.host == "169.254.170.2" || url.host == "169.254.170.23" ||
         url.host == "fd00:ec2::23";
}

}  // namespace

result<aws_credentials> parse_credentials(const answer_tree& from) {
  aws_credentials c;
  c.access_key = from.at("AccessKeyId");
  c.secret_key = from.at("SecretAccessKey");
  c.session_token = from.find("Token") ? from.at("Token") : from.at("SessionToken");
  if (c.access_key.empty() || c.secret_key.empty())
    return data_loss_error("the answer has no AccessKeyId and SecretAccessKey");
  const std::string_view ends = from.at("Expiration");
  if (ends.empty()) return c;
  auto when = parse_iso_time(ends);
  if (!when) return data_loss_error("the answer has an Expiration that is no time");
  c.ends_ns = *when;
  return c;
}

task<std::string> aws_credential_chain::ask(http_request request, std::string from, std::chrono::nanoseconds time,
                                            time_point deadline) {
  auto asking = secret_call(servers_, std::move(request), "credentials", time, deadline);
  auto answer = co_await asking.as_result();
  if (!answer.ok()) co_await fail(refused_by(from, answer.why()));
  co_return std::move(answer->body);
}

result<std::optional<aws_credentials>> aws_credential_chain::from_profile(std::string& web_role,
                                                                          std::string& web_file) const {
  auto profile = read_aws_profile(around_, profile_);
  if (!profile.ok()) return profile.why();
  aws_credentials c;
  c.access_key = profile->text("aws_access_key_id");
  c.secret_key = profile->text("aws_secret_access_key");
  c.session_token = profile->text("aws_session_token");
  if (!c.access_key.empty() && !c.secret_key.empty()) return std::optional(c);
  web_role = profile->text("role_arn");
  web_file = profile->text("web_identity_token_file");
  if (!web_file.empty()) return std::optional<aws_credentials>();
  for (const char* other : {"credential_process", "sso_session", "sso_start_url", "role_arn", "login_session"})
    if (!profile->text(other).empty())
      return unauthenticated(
          joined("the profile \"", profile->name, "\" has ", other,
                 ", which is not supported: put what `aws configure export-credentials --format env` prints "
                 "into the environment"));
  return std::optional<aws_credentials>();
}

task<aws_credentials> aws_credential_chain::from_web_identity(std::string role, std::string file, time_point deadline) {
  auto token = around_.read_file(file);
  if (!token.ok()) co_await fail(refused_by("the web identity", token.why()));
  if (role.empty())
    co_await fail(unauthenticated("a web identity needs a role: AWS_ROLE_ARN, or role_arn of the profile"));
  std::string endpoint = around_.text("AWS_ENDPOINT_URL_STS");
  if (endpoint.empty()) endpoint = joined("https://sts.", region_, ".amazonaws.com");
  auto url = parse_http_url(endpoint);
  if (!url.ok()) co_await fail(refused_by("the web identity (AWS_ENDPOINT_URL_STS)", url.why()));
  std::string session = around_.text("AWS_ROLE_SESSION_NAME");
  if (session.empty()) session = "sluice";
  const std::string form = joined("Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=", percent_encoded(role),
                                  "&RoleSessionName=", percent_encoded(session),
                                  "&WebIdentityToken=", percent_encoded(without_blanks(*token)));
  http_request r;
  r.method = "POST";
  r.to = *std::move(url);
  r.set("Content-Type", "application/x-www-form-urlencoded");
  r.body = form;
  auto asking = ask(std::move(r), "the web identity", kServiceTime, deadline);
  const std::string body = co_await asking;
  auto answer = parse_xml(body);
  if (!answer.ok()) co_await fail(refused_by("the web identity", answer.why()));
  const answer_tree* outcome = answer->find("AssumeRoleWithWebIdentityResult");
  const answer_tree* found = outcome ? outcome->find("Credentials") : nullptr;
  auto c =
      found ? parse_credentials(*found) : result<aws_credentials>(data_loss_error("the answer has no Credentials"));
  if (!c.ok()) co_await fail(refused_by("the web identity", c.why()));
  co_return *std::move(c);
}

task<aws_credentials> aws_credential_chain::from_container(std::string url, time_point deadline) {
  auto to = parse_http_url(url);
  if (!to.ok()) co_await fail(refused_by("the container's service", to.why()));
  if (!may_be_reported(*to))
    co_await fail(unauthenticated(joined("AWS_CONTAINER_CREDENTIALS_FULL_URI names ", to->host,
                                         ", which is neither this machine nor reached by https://")));
  std::string token = around_.text("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  const std::string file = around_.text("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  if (!file.empty()) {
    auto text = around_.read_file(file);
    if (!text.ok()) co_await fail(refused_by("the container's service", text.why()));
    token = *std::move(text);
    while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  }
  http_request r;
  r.to = *std::move(to);
  if (token.find_first_of("\r\n") != std::string::npos)
    co_await fail(unauthenticated("the container's authorization token has a line break"));
  if (!token.empty()) r.set("Authorization", token);
  auto asking = ask(std::move(r), "the container's service", kServiceTime, deadline);
  const std::string body = co_await asking;
  auto answer = parse_json(body);
  auto c = answer.ok() ? parse_credentials(*answer) : result<aws_credentials>(answer.why());
  if (!c.ok()) co_await fail(refused_by("the container's service", c.why()));
  co_return *std::move(c);
}

task<aws_credentials> aws_credential_chain::from_machine(time_point deadline) {
  const std::string source = "the machine (IMDSv2)";
  std::string endpoint = around_.text("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (endpoint.empty()) endpoint = std::string(kMachine);
  while (endpoint.ends_with('/')) endpoint.pop_back();
  auto url = parse_http_url(endpoint);
  if (!url.ok()) co_await fail(refused_by(source, url.why()));
  http_request r;
  r.method = "PUT";
  r.to = *url;
  r.to.target = "/latest/api/token";
  r.set("X-aws-ec2-metadata-token-ttl-seconds", "21600");
  auto asking_token = ask(r, source, kMachineTime, deadline);
  const std::string token = co_await asking_token;
  http_request get;
  get.to = *url;
  get.to.target = "/latest/meta-data/iam/security-credentials/";
  get.set("X-aws-ec2-metadata-token", token);
  auto asking_role = ask(get, joined(source, ": it has no role"), kMachineTime, deadline);
  std::string role = co_await asking_role;
  role = role.substr(0, role.find_first_of("\r\n"));
  get.to.target += percent_encoded(role);
  auto asking = ask(std::move(get), source, kMachineTime, deadline);
  const std::string body = co_await asking;
  auto answer = parse_json(body);
  auto c = answer.ok() ? parse_credentials(*answer) : result<aws_credentials>(answer.why());
  if (!c.ok()) co_await fail(refused_by(source, c.why()));
  co_return *std::move(c);
}

task<aws_credentials> aws_credential_chain::fetch(time_point deadline) {
  if (!given_.access_key.empty()) co_return given_;
  aws_credentials c;
  c.access_key = around_.text("AWS_ACCESS_KEY_ID");
  c.secret_key = around_.text("AWS_SECRET_ACCESS_KEY");
  c.session_token = around_.text("AWS_SESSION_TOKEN");
  if (profile_.empty() && !c.access_key.empty() && !c.secret_key.empty()) co_return c;
  std::string role, file;
  auto found = from_profile(role, file);
  if (!found.ok()) co_await fail(refused_by("the profile", found.why()));
  if (*found) co_return **std::move(found);
  if (file.empty()) {
    file = around_.text("AWS_WEB_IDENTITY_TOKEN_FILE");
    role = around_.text("AWS_ROLE_ARN");
  }
  if (!file.empty()) {
    auto asking = from_web_identity(std::move(role), std::move(file), deadline);
    co_return co_await asking;
  }
  const std::string below = around_.text("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const std::string full = around_.text("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!below.empty() || !full.empty()) {
    auto asking = from_container(below.empty() ? full : joined(kContainer, below), deadline);
    co_return co_await asking;
  }
  status why = failed_precondition_error("AWS_EC2_METADATA_DISABLED is set");
  if (!around_.flag("AWS_EC2_METADATA_DISABLED")) {
    auto asking = from_machine(deadline);
    auto machine = co_await asking.as_result();
    if (machine.ok()) co_return *std::move(machine);
    if (machine.why().code() != status_code::unauthenticated) co_await fail(machine.why());
    why = machine.why();
  }
  co_await fail(unauthenticated(
      joined("there are no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run `aws "
             "configure`; a public bucket is read with AWS_NO_SIGN_REQUEST=1 "
             "(s3_options::anonymous). There are no keys in ~/.aws, no web identity, no container, and ",
             why.message())));
  co_return {};
}

}  // namespace sluice::lib::detail
