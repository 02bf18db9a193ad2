// SPDX-License-Identifier: Apache-2.0
// Whose credentials requests to S3 are signed with: the first that are there of those that s3.hpp lists.
//
// Which source it is is decided by what is configured, not by what answers: where one was named and fails, that is
// the error, and the next is not asked. The machine's own, which nothing names, is asked last, and for a second at
// most.
// Errors: unauthenticated, naming the source, or where was looked and what to do. Secrets are in no message.
// Thread: any.
#pragma once

#include <memory>
#include <string>

#include "io/http/http_call.hpp"
#include "io/s3/aws_profile.hpp"
#include "io/s3/sigv4.hpp"
#include "io/stores/answer_tree.hpp"

namespace sluice::lib::detail {

class aws_credential_chain final : renewed<aws_credentials>::source {
 public:
  /// `given`: of the options; without an access key: none. `servers` must outlive it.
  aws_credential_chain(http_servers& servers, surroundings around, aws_credentials given, std::string profile,
                       std::string region)
      : servers_(servers),
        around_(std::move(around)),
        given_(std::move(given)),
        profile_(std::move(profile)),
        region_(std::move(region)),
        kept_(servers.context().time, around_.now_ns) {}

  task<aws_credentials> get(time_point deadline) { return kept_.get(*this, deadline); }
  /// A server has refused them as over or unknown. Returns true if others may be had.
  bool forget(std::string_view access_key) { return kept_.forget(access_key); }

 private:
  task<aws_credentials> fetch(time_point deadline) override;
  result<std::optional<aws_credentials>> from_profile(std::string& web_role, std::string& web_file) const;
  task<aws_credentials> from_web_identity(std::string role, std::string file, time_point deadline);
  task<aws_credentials> from_container(std::string url, time_point deadline);
  task<aws_credentials> from_machine(time_point deadline);
  /// `from`: for messages.
  task<std::string> ask(http_request request, std::string from, std::chrono::nanoseconds time, time_point deadline);

  http_servers& servers_;
  const surroundings around_;
  const aws_credentials given_;
  const std::string profile_, region_;
  renewed<aws_credentials> kept_;
};

/// Of an answer with AccessKeyId, SecretAccessKey, Token or SessionToken, Expiration. Errors: data_loss.
result<aws_credentials> parse_credentials(const answer_tree& from);

}  // namespace sluice::lib::detail
