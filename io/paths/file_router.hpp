// SPDX-License-Identifier: Apache-2.0
// Sends each path to the file system of its scheme (sluice/io/files.hpp).
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/text/path_scheme.hpp"
#include "sluice/base/result.hpp"
#include "sluice/io/conditional_files.hpp"
#include "sluice/io/file_system.hpp"

namespace sluice::lib::detail {

class file_router final : public file_system, public conditional_files {
 public:
  using maker = std::function<result<std::unique_ptr<file_system>>()>;
  /// `make_local` is called for the first path without a scheme.
  explicit file_router(maker make_local) : make_local_(std::move(make_local)) {}

  void set_local(std::unique_ptr<file_system> files);
  /// Errors: invalid_argument: no scheme, or one that was added before.
  status add(std::string scheme, std::unique_ptr<file_system> files);

  task<std::unique_ptr<file>> open(std::string path, open_options o) override;
  task<file_info> stat(std::string path, time_point deadline) override;
  std::unique_ptr<listing> list(std::string pattern, list_options o) override;
  task<std::unique_ptr<file_writer>> create(std::string path, time_point deadline) override;
  task<file_info> put_if(std::string path, std::string bytes, std::string version, time_point deadline) override;
  task<> remove(std::string path, time_point deadline) override;
  std::size_t first_read_bytes(const std::string& path) const override;
  /// Returns the local file system's description and the schemes. Throws if the local one cannot be opened.
  std::string description() const override;

 private:
  result<file_system*> local() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Returns the file system that handles the path, and removes "file://" from it.
  result<file_system*> home_of(std::string& path) const ABSL_LOCKS_EXCLUDED(mutex_);
  /// Errors: unimplemented: that file system has no conditional writes.
  result<conditional_files*> conditional_home_of(std::string& path) const ABSL_LOCKS_EXCLUDED(mutex_);

  const maker make_local_;
  mutable absl::Mutex mutex_;
  mutable std::unique_ptr<file_system> local_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::unique_ptr<file_system>> schemes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib::detail
