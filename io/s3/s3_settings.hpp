// SPDX-License-Identifier: Apache-2.0
// Where and how the objects of S3 are asked for: what the options, the environment and the profile say together.
#pragma once

#include <optional>
#include <string>

#include "io/http/messages/http_url.hpp"
#include "io/stores/surroundings.hpp"
#include "sluice/io/s3.hpp"

namespace sluice::lib::detail {

struct s3_settings {
  std::string region;
  std::optional<http_url> endpoint;  ///< instead of Amazon's
  bool path_style = false;
  bool anonymous = false;
  bool is_google = false;  ///< Google's store, which has the same protocol: answers tell checksums

  /// The host that answers for the bucket there.
  std::string host_of(const std::string& bucket, const std::string& of_region) const;
  /// `key` escaped already; empty: the bucket's own.
  http_url url_of(const std::string& bucket, std::string_view key, const std::string& of_region) const;

 private:
  bool in_path(const std::string& bucket) const;
};

/// Errors: invalid_argument: an endpoint that is no URL, options that contradict each other.
status check_s3_options(const s3_options& options);
/// Errors: as well those of the profile.
result<s3_settings> settings_of(const s3_options& options, const surroundings& around);

}  // namespace sluice::lib::detail
