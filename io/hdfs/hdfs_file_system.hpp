// SPDX-License-Identifier: Apache-2.0
// The file system of hdfs://, webhdfs:// and swebhdfs:// (sluice/io/hdfs.hpp).
#pragma once

#include <memory>
#include <string>

#include "io/hdfs/hdfs_settings.hpp"
#include "io/hdfs/hdfs_status.hpp"
#include "io/http/http_client.hpp"
#include "io/http/http_file.hpp"
#include "sluice/io/file_system.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::detail {

/// The state that the three schemes share.
struct hdfs_world {
  hdfs_world(clock& time, network_maker connect, hdfs_options options, std::uint64_t seed, surroundings around)
      : client(time, std::move(connect), options.http, seed), settings(std::move(options), std::move(around)) {}
  http_client client;
  hdfs_settings settings;
};

class hdfs_file_system final : public file_system {
 public:
  /// `is_described`: only one of the three schemes is described in reports.
  hdfs_file_system(runtime& rt, std::shared_ptr<hdfs_world> world, bool is_described = true);
  ~hdfs_file_system() override { world_->client.close(); }

  task<std::unique_ptr<file>> open(std::string path, open_options o) override;
  task<file_info> stat(std::string path, time_point deadline) override;
  std::unique_ptr<listing> list(std::string pattern, list_options o) override;
  task<std::unique_ptr<file_writer>> create(std::string path, time_point deadline) override;
  std::size_t first_read_bytes(const std::string&) const override { return http_file::kFirstBytes; }
  std::string description() const override { return is_described_ ? world_->client.description() : std::string(); }

 private:
  result<hdfs_place> place_of(const result<hdfs_path>& path);

  const std::shared_ptr<hdfs_world> world_;
  const bool is_described_;
  const std::shared_ptr<memory_ledger> ledger_;
  /// The run of background work. The runtime does not stop it at its end, because the work is short and has a deadline.
  const std::shared_ptr<run_context> cleaning_;
};

}  // namespace sluice::lib::detail
