// SPDX-License-Identifier: Apache-2.0
// The servers that one file system asks, and what its requests share.
//
// Thread: any.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "io/http/http_servers.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib::detail {

class http_client final : public http_servers {
 public:
  http_client(clock& time, network_maker make_network, http_options options, std::uint64_t seed)
      : context_(time, std::move(make_network), std::move(options), seed) {}

  http_origin& at(const http_url& url) override;
  http_context& context() override { return context_; }
  const http_counts& counts() const noexcept { return context_.counts; }

  /// "HTTP/1.1, 12 requests over 3 connections"; empty until something was asked for.
  std::string description() const;
  /// The runtime ends, and its clock: no connection waits any more for a request. What files have goes with them.
  void close();
  /// Connections that wait for a request.
  std::size_t idle_connections() const;

 private:
  std::shared_ptr<secure_layer> secure_for(const http_url& url) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  http_context context_;
  mutable mutex mutex_;
  std::map<std::string, std::unique_ptr<http_origin>> origins_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<secure_layer> secure_ ABSL_GUARDED_BY(mutex_);
};

/// Errors: invalid_argument: a header that would be none, or two; its value is not told.
status check_headers(const http_options& options);

}  // namespace sluice::lib::detail
