// SPDX-License-Identifier: Apache-2.0
// Finds the credentials that sign requests to S3: the first available source of the list in s3.hpp.
//
// The configuration chooses the source, not the answers: if a configured source fails, its error is returned, and the
// next source is not asked. The machine's own service, which needs no configuration, is asked last, for one second at
// most.
// Errors: unauthenticated, naming the source, or the places searched and what to do. No message contains a secret.
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
  /// `given`: the credentials in the options; without an access key: none. `servers` must outlive this object.
  aws_credential_chain(http_servers& servers, surroundings around, aws_credentials given, std::string profile,
                       std::string region)
      : servers_(servers),
        around_(std::move(around)),
        given_(std::move(given)),
        profile_(std::move(profile)),
        region_(std::move(region)),
        kept_(servers.context().time, around_.now_ns) {}

  task<aws_credentials> get(time_point deadline) { return kept_.get(*this, deadline); }
  /// Drops credentials that a server has refused as expired or unknown. Returns true if others may be available.
  bool forget(std::string_view access_key) { return kept_.forget(access_key); }

 private:
  task<aws_credentials> fetch(time_point deadline) override;
  result<std::optional<aws_credentials>> from_profile(std::string& web_role, std::string& web_file) const;
  task<aws_credentials> from_web_identity(std::string role, std::string file, time_point deadline);
  task<aws_credentials> from_container(std::string url, time_point deadline);
  task<aws_credentials> from_machine(time_point deadline);
  /// `from`: the source, for messages.
  task<std::string> ask(http_request request, std::string from, std::chrono::nanoseconds time, time_point deadline);

  http_servers& servers_;
  const surroundings around_;
  const aws_credentials given_;
  const std::string profile_, region_;
  renewed<aws_credentials> kept_;
};

/// Parses an answer with AccessKeyId, SecretAccessKey, Token or SessionToken, Expiration. Errors: data_loss.
result<aws_credentials> parse_credentials(const answer_tree& from);

}  // namespace sluice::lib::detail
