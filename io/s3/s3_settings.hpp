// SPDX-License-Identifier: Apache-2.0
// The server and options for requests to S3, from the options, the environment and the profile.
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
  bool is_google = false;  ///< Google's store, which uses the same protocol and reports checksums

  /// Returns the host of the bucket in that region.
  std::string host_of(const std::string& bucket, const std::string& of_region) const;
  /// Returns the URL of an escaped key; empty: of the bucket itself.
  http_url url_of(const std::string& bucket, std::string_view key, const std::string& of_region) const;

 private:
  bool in_path(const std::string& bucket) const;
};

/// Errors: invalid_argument: the endpoint is no URL, or options contradict each other.
status check_s3_options(const s3_options& options);
/// Errors: also those of the profile.
result<s3_settings> settings_of(const s3_options& options, const surroundings& around);

}  // namespace sluice::lib::detail
