// SPDX-License-Identifier: Apache-2.0
// The file system of http:// and https:// (sluice/io/http.hpp).
#pragma once

#include <memory>
#include <string>

#include "io/http/http_client.hpp"
#include "io/http/http_file.hpp"
#include "sluice/io/file_system.hpp"
#include "sluice/io/http.hpp"

namespace sluice::lib::detail {

class http_file_system final : public file_system {
 public:
  http_file_system(clock& time, network_maker make_network, http_options options, std::uint64_t seed)
      : client_(std::make_shared<http_client>(time, std::move(make_network), std::move(options), seed)) {}

  task<std::unique_ptr<file>> open(std::string path, open_options o) override;
  task<file_info> stat(std::string path, time_point deadline) override;
  std::unique_ptr<listing> list(std::string pattern, list_options o) override;
  task<std::unique_ptr<file_writer>> create(std::string path, time_point deadline) override;
  /// Looks up one object; `does_ranges` must stay valid until the task has ended.
  task<file_info> look_up(std::string path, time_point deadline, bool& does_ranges);
  /// Returns 0 before the first request.
  std::size_t first_read_bytes(const std::string&) const override { return http_file::kFirstBytes; }
  std::string description() const override { return client_->description(); }

  void close() { client_->close(); }
  http_origin& at(const http_url& url) { return client_->at(url); }
  const http_counts& counts() const noexcept { return client_->counts(); }
  std::size_t idle_connections() const { return client_->idle_connections(); }

 private:
  const std::shared_ptr<http_client> client_;
};

}  // namespace sluice::lib::detail
