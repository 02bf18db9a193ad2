// SPDX-License-Identifier: Apache-2.0
// The servers of one file system, and the state that its requests share.
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

  /// Returns "HTTP/1.1, 12 requests over 3 connections", or "" before the first request.
  std::string description() const;
  /// Closes idle connections when the runtime and its clock end. Open files close their own connections.
  void close();
  /// Returns the number of idle connections.
  std::size_t idle_connections() const;

 private:
  std::shared_ptr<secure_layer> secure_for(const http_url& url) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  http_context context_;
  mutable mutex mutex_;
  std::map<std::string, std::unique_ptr<http_origin>> origins_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<secure_layer> secure_ ABSL_GUARDED_BY(mutex_);
};

/// Errors: invalid_argument: a header that is invalid or contains a line break; the message omits its value.
status check_headers(const http_options& options);

}  // namespace sluice::lib::detail
