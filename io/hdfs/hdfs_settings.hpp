// SPDX-License-Identifier: Apache-2.0
// Finds the name nodes of a path and the user for its requests, from options, variables and Hadoop's files.
//
// Errors: invalid_argument, naming the setting that is wrong or missing; unauthenticated: an invalid token.
// Thread: any.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/hdfs/hadoop_conf.hpp"
#include "io/hdfs/hdfs_path.hpp"
#include "io/hdfs/name_nodes.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/io/hdfs.hpp"

namespace sluice::lib::detail {

class hdfs_settings {
 public:
  hdfs_settings(hdfs_options options, surroundings around) : options_(std::move(options)), around_(std::move(around)) {}

  /// Returns the name nodes of a path. All paths with the same scheme and authority share them.
  result<std::shared_ptr<name_nodes>> nodes_of(const hdfs_path& path);

 private:
  result<std::vector<http_url>> addresses_of(const hdfs_path& path) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  result<std::vector<http_url>> addresses_of_name(const std::string& name, bool tls) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Returns true if settings, and not the path alone, determine the server.
  bool is_configured(const hdfs_path& path) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  result<hdfs_asker> asker_for(const hdfs_path& path, const std::vector<http_url>& nodes) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const hdfs_options options_;
  const surroundings around_;
  mutex mutex_;
  std::optional<result<hadoop_conf>> conf_ ABSL_GUARDED_BY(mutex_);  ///< read at the first use
  std::map<std::string, std::shared_ptr<name_nodes>> of_authority_ ABSL_GUARDED_BY(mutex_);
};

/// Errors: invalid_argument.
status check_hdfs_options(const hdfs_options& options);

}  // namespace sluice::lib::detail
