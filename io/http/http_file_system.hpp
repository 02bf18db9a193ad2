// SPDX-License-Identifier: Apache-2.0
// The file system of http:// and https:// (sluice/io/http.hpp).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "io/http/http_object.hpp"
#include "sluice/io/file_system.hpp"
#include "sluice/io/http.hpp"

namespace sluice::lib::detail {

class http_file_system final : public file_system,
                               public http_servers,
                               public std::enable_shared_from_this<http_file_system> {
 public:
  http_file_system(clock& time, network_maker make_network, http_options options, std::uint64_t seed);
  ~http_file_system() override;

  task<std::unique_ptr<file>> open(std::string path, open_options o) override;
  task<file_info> stat(std::string path, time_point deadline) override;
  std::unique_ptr<listing> list(std::string pattern, list_options o) override;
  task<std::unique_ptr<file_writer>> create(std::string path, time_point deadline) override;
  /// Empty until something was asked for.
  std::string description() const override;

  /// The runtime ends, and its clock: no connection waits any more for a request. What files have goes with them.
  void close();

  http_origin& at(const http_url& url) override;
  http_context& context() override { return context_; }
  const http_counts& counts() const noexcept { return context_.counts; }
  /// Connections that wait for a request.
  std::size_t idle_connections() const;

 private:
  std::shared_ptr<secure_layer> secure_for(const http_url& url);

  http_context context_;
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<http_origin>> origins_;  ///< guarded by mutex_
  std::shared_ptr<secure_layer> secure_;                         ///< guarded by mutex_
};

}  // namespace sluice::lib::detail
