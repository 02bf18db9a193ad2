// SPDX-License-Identifier: Apache-2.0
#include "io/s3/s3_bucket.hpp"

#include <algorithm>

#include "io/http/messages/dates.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/http/messages/printable.hpp"
#include "io/stores/digest.hpp"
#include "io/stores/stored_crc32c.hpp"

namespace sluice::lib::detail {
namespace {

bool is_text(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c < '\x7f'; });
}

bool is_one_of(std::string_view code, std::initializer_list<std::string_view> codes) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

/// Returns the access key that a request was signed with.
std::string_view signer_of(const http_request& sent) {
  constexpr std::string_view kBefore = "Credential=";
  for (const auto& [name, value] : sent.fields) {
    if (name != "Authorization") continue;
    const std::size_t at = value.find(kBefore);
    if (at == std::string::npos) return {};
    const std::string_view rest = std::string_view(value).substr(at + kBefore.size());
    return rest.substr(0, rest.find('/'));
  }
  return {};
}

bool says_secret_is_over(std::string_view code) {
  return is_one_of(code, {"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "InvalidToken"});
}

}  // namespace

std::string s3_bucket::region() const {
  mutex_lock lock(mutex_);
  return region_;
}

http_url s3_bucket::url_of(std::string_view key) const {
  return account_->settings.url_of(name_, percent_encoded(key, true), region());
}

std::optional<std::uint32_t> s3_bucket::crc32c_of(const response_head& head) const {
  return crc32c_of_hashes(head.field("x-goog-hash"));
}

task<> s3_bucket::sign(http_request& request, time_point deadline) {
  const std::string at = region();
  request.to.host = account_->settings.host_of(name_, at);
  if (account_->settings.anonymous) co_return;
  auto getting = account_->credentials.get(deadline);
  sigv4_signing how;
  how.credentials = co_await getting;
  if (!is_text(how.credentials.access_key) || !is_text(how.credentials.session_token))
    co_await fail(status(status_code::unauthenticated, "the access key or the session token has a control character"));
  how.region = at;
  how.service = "s3";
  how.now_ns = account_->around.now_ns() + account_->skew_ns.load(std::memory_order_relaxed);
  how.payload = std::string(kUnsignedPayload);
  if (!request.to.tls || request.body.empty())
    how.payload = hexadecimal(sha256(std::string_view(request.body.data(), request.body.size())));
  sign_v4(request, how);
}

bool s3_bucket::learn(const http_request& sent, const response_head& head, std::string_view code,
                      std::string_view reported_region) {
  const bool is_elsewhere = head.is_redirect() || head.code == 400 ||
                            is_one_of(code, {"AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect"});
  if (is_elsewhere && !reported_region.empty() && is_text(reported_region) &&
      reported_region.find('/') == reported_region.npos) {
    mutex_lock lock(mutex_);
    if (region_ != reported_region) {
      region_ = std::string(reported_region);
      return true;
    }
  }
  if (code == "RequestTimeTooSkewed") {
    auto theirs = parse_http_date(head.field("date"));
    if (!theirs) return false;
    const std::int64_t skew = *theirs - account_->around.now_ns();
    const std::int64_t had = account_->skew_ns.exchange(skew, std::memory_order_relaxed);
    constexpr std::int64_t kMinute = 60 * kSecondNs;
    return skew - had > kMinute || had - skew > kMinute;
  }
  return says_secret_is_over(code) && account_->credentials.forget(signer_of(sent));
}

std::string s3_bucket::advice(std::string_view code, int http_code) const {
  if (code == "NoSuchBucket")
    return account_->settings.endpoint ? "; the endpoint is " + account_->settings.endpoint->origin() : std::string();
  if (is_one_of(code, {"InvalidAccessKeyId", "SignatureDoesNotMatch"}))
    return "; the server does not know these keys: check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or the profile, "
           "and for another server AWS_ENDPOINT_URL";
  if (says_secret_is_over(code)) return "; the credentials have expired: get new ones";
  if (code == "RequestTimeTooSkewed") return "; the clock of this machine is wrong";
  if (http_code == 403)
    return account_->settings.anonymous
               ? "; the request was anonymous, and the bucket is not public: give credentials, without "
                 "AWS_NO_SIGN_REQUEST"
               : "; the credentials are valid and lack a permission: the bucket's policy or the role must allow it "
                 "(s3:GetObject, s3:ListBucket, s3:PutObject); without s3:ListBucket a missing object causes this "
                 "error, too";
  if (http_code == 301 || http_code == 307) return "; the bucket is in another region: set AWS_REGION";
  return {};
}

std::optional<http_failure> s3_bucket::explain(const http_request& sent, const response_head& head,
                                               std::string_view body) {
  auto parsed = parse_xml(body);
  std::string code, message, region(head.field("x-amz-bucket-region"));
  if (parsed.ok() && parsed->name == "Error") {
    code = parsed->at("Code");
    message = parsed->at("Message");
    if (region.empty()) region = parsed->at("Region");
  }
  http_failure f = failure_of(head, body);
  if (head.code == 412) return f;
  if (f.request_id.empty() && parsed.ok()) f.request_id = parsed->at("RequestId");
  f.at_once = learn(sent, head, code, region);
  if (head.code == 416) return f;
  status_code meaning = f.why.code();
  if (is_one_of(code, {"InvalidAccessKeyId", "SignatureDoesNotMatch"}) || says_secret_is_over(code))
    meaning = status_code::unauthenticated;
  // The bytes were changed in transit, and another attempt may succeed.
  if (is_one_of(code, {"BadDigest", "XAmzContentSHA256Mismatch"})) {
    meaning = status_code::data_loss;
    f.again = true;
  }
  if (head.is_redirect() || code == "RequestTimeTooSkewed") meaning = status_code::failed_precondition;
  const std::string reason =
      code.empty() ? std::string() : joined(": ", code, message.empty() ? "" : ": ", std::string(message));
  if (code.empty() && !body.empty()) return f;  // not from S3, but for example from a proxy
  f.why = status(meaning, joined("the server says ", head.status_text(), printable(reason),
                                 f.again ? "" : advice(code, head.code)));
  return f;
}

}  // namespace sluice::lib::detail
