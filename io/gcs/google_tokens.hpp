// SPDX-License-Identifier: Apache-2.0
// Chooses the tokens for requests to Google's store: the first available source of the list in gcs.hpp.
//
// Errors: unauthenticated, naming the source, or the places searched and what to do. No message contains a secret.
// Thread: any.
#pragma once

#include <memory>
#include <string>

#include "io/http/http_call.hpp"
#include "io/stores/answer_tree.hpp"
#include "io/stores/renewed.hpp"
#include "io/stores/surroundings.hpp"
#include "sluice/io/gcs.hpp"

namespace sluice::lib::detail {

struct google_token {
  std::string text;
  std::int64_t ends_ns = kNeverEnds;  ///< nanoseconds since 1970
  const std::string& name() const { return text; }
};

class google_tokens final : renewed<google_token>::source {
 public:
  /// `servers` must outlive this object.
  google_tokens(http_servers& servers, surroundings around, std::string credentials_file, std::string access_token)
      : servers_(servers),
        around_(std::move(around)),
        file_(std::move(credentials_file)),
        given_(std::move(access_token)),
        kept_(servers.context().time, around_.now_ns) {}

  task<google_token> get(time_point deadline) { return kept_.get(*this, deadline); }
  /// Drops a token that a server has refused. Returns true if another may be available.
  bool forget(std::string_view token) { return kept_.forget(token); }

 private:
  task<google_token> fetch(time_point deadline) override;
  task<google_token> from_file(std::string path, std::string text, time_point deadline);
  task<google_token> from_machine(time_point deadline);
  task<google_token> ask(http_request request, std::string from, std::chrono::nanoseconds time, time_point deadline);

  http_servers& servers_;
  const surroundings around_;
  const std::string file_, given_;
  renewed<google_token> kept_;
};

/// Returns the signed claim with which a service account requests a token for `audience` at time `now_ns`. Errors:
/// invalid_argument: the account has no valid key.
result<std::string> service_account_claim(const answer_tree& account, const std::string& audience, std::int64_t now_ns);

}  // namespace sluice::lib::detail
