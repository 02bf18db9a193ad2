// SPDX-License-Identifier: Apache-2.0
// Signs requests to one bucket, and interprets its answers.
//
// It learns from answers: the bucket's region, the error of this machine's clock, expired credentials. The request is
// then signed again at once.
// Thread: any.
#pragma once

#include <atomic>
#include <string>

#include "io/http/object_service.hpp"
#include "io/s3/aws_credential_chain.hpp"
#include "io/s3/s3_settings.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib::detail {

/// The state that all buckets share.
struct s3_account {
  s3_account(http_servers& servers, surroundings from, const s3_options& options, s3_settings found)
      : around(std::move(from)),
        settings(std::move(found)),
        credentials(servers, around, {options.access_key_id, options.secret_access_key, options.session_token},
                    options.profile, settings.region) {}
  const surroundings around;
  const s3_settings settings;
  aws_credential_chain credentials;
  /// the server's clock minus this machine's; relaxed: no other memory depends on it
  std::atomic<std::int64_t> skew_ns{0};
};

class s3_bucket final : public object_service {
 public:
  s3_bucket(std::shared_ptr<s3_account> account, std::string name)
      : account_(std::move(account)), name_(std::move(name)), region_(account_->settings.region) {}

  /// Returns the URL of a key, as far as the region is known.
  http_url url_of(std::string_view key) const;

  task<> sign(http_request& request, time_point deadline) override;
  std::optional<http_failure> explain(const http_request& sent, const response_head& head,
                                      std::string_view body) override;
  bool sends_crc32c() const override { return account_->settings.is_google; }
  std::optional<std::uint32_t> crc32c_of(const response_head& head) const override;

 private:
  std::string region() const;
  /// Returns true if it has learned something from the answer, so that the next attempt may succeed.
  bool learn(const http_request& sent, const response_head& head, std::string_view code,
             std::string_view reported_region);
  std::string advice(std::string_view code, int http_code) const;

  const std::shared_ptr<s3_account> account_;
  const std::string name_;
  mutable mutex mutex_;
  std::string region_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib::detail
