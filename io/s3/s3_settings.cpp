// SPDX-License-Identifier: Apache-2.0
#include "io/s3/s3_settings.hpp"

#include "io/http/messages/http_request.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/s3/aws_profile.hpp"

namespace sluice::lib::detail {
namespace {

/// Returns true if the bucket's name can be part of a host name. Amazon's certificates allow one level for it.
bool is_host_label(const std::string& bucket) {
  for (char c : bucket)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')) return false;
  return true;
}

std::string first_of(std::initializer_list<std::string> texts) {
  for (const std::string& t : texts)
    if (!t.empty()) return t;
  return {};
}

}  // namespace

bool s3_settings::in_path(const std::string& bucket) const {
  return path_style || (!endpoint && !is_host_label(bucket));
}

std::string s3_settings::host_of(const std::string& bucket, const std::string& of_region) const {
  std::string host;
  if (endpoint) {
    host = endpoint->host;
  } else {
    const bool in_china = of_region.starts_with("cn-");
    host = joined("s3.", of_region, in_china ? ".amazonaws.com.cn" : ".amazonaws.com");
  }
  return in_path(bucket) ? host : joined(bucket, ".", host);
}

http_url s3_settings::url_of(const std::string& bucket, std::string_view key, const std::string& of_region) const {
  http_url url;
  if (endpoint) url = *endpoint;
  else url.tls = true, url.port = 443;
  url.host = host_of(bucket, of_region);
  url.target = in_path(bucket) ? joined("/", bucket, key.empty() ? "" : "/", key) : joined("/", key);
  return url;
}

status check_s3_options(const s3_options& options) {
  if (options.access_key_id.empty() != options.secret_access_key.empty())
    return invalid_argument_error("s3_options: access_key_id and secret_access_key go together, and one is missing");
  if (options.anonymous && !options.access_key_id.empty())
    return invalid_argument_error("s3_options: anonymous, and an access key: only one of them");
  if (options.endpoint.empty()) return {};
  auto url = parse_endpoint(options.endpoint, "s3_options::endpoint");
  return url.ok() ? status() : url.why();
}

result<s3_settings> settings_of(const s3_options& options, const surroundings& around) {
  auto profile = read_aws_profile(around, options.profile);
  if (!profile.ok()) return profile.why();
  s3_settings s;
  s.region = first_of({options.region, around.text("AWS_REGION"), around.text("AWS_DEFAULT_REGION"),
                       profile->text("region"), "us-east-1"});
  for (char c : s.region)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
      return invalid_argument_error(joined("\"", s.region, "\" is no region of S3 (AWS_REGION)"));
  const std::string endpoint = first_of({options.endpoint, around.text("AWS_ENDPOINT_URL_S3"),
                                         around.text("AWS_ENDPOINT_URL"), profile->text("endpoint_url")});
  if (!endpoint.empty()) {
    auto url = parse_endpoint(endpoint, "the endpoint of S3 (AWS_ENDPOINT_URL)");
    if (!url.ok()) return url.why();
    s.endpoint = *std::move(url);
  }
  s.path_style = options.path_style.value_or(s.endpoint.has_value());
  s.is_google = s.endpoint && s.endpoint->host == "storage.googleapis.com";
  s.anonymous = options.anonymous || (options.access_key_id.empty() && around.flag("AWS_NO_SIGN_REQUEST"));
  return s;
}

}  // namespace sluice::lib::detail
