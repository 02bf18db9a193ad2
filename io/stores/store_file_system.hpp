// SPDX-License-Identifier: Apache-2.0
// The file system over an object store, shared by all stores.
#pragma once

#include <memory>
#include <string>

#include "io/http/http_file.hpp"
#include "io/stores/object_store.hpp"
#include "sluice/io/conditional_files.hpp"
#include "sluice/io/file_system.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::detail {

class store_file_system final : public file_system, public conditional_files {
 public:
  store_file_system(runtime& rt, std::shared_ptr<object_store> store);
  ~store_file_system() override { store_->client().close(); }

  task<std::unique_ptr<file>> open(std::string path, open_options o) override;
  task<file_info> stat(std::string path, time_point deadline) override;
  std::unique_ptr<listing> list(std::string pattern, list_options o) override;
  task<std::unique_ptr<file_writer>> create(std::string path, time_point deadline) override;
  task<file_info> put_if(std::string path, std::string bytes, std::string version, time_point deadline) override;
  task<> remove(std::string path, time_point deadline) override;
  std::size_t first_read_bytes(const std::string&) const override { return http_file::kFirstBytes; }
  std::string description() const override { return store_->client().description(); }

 private:
  const std::shared_ptr<object_store> store_;
  const std::shared_ptr<memory_ledger> ledger_;
  /// The run of background work. The runtime does not stop it at its end, because the work is short and has a deadline.
  const std::shared_ptr<run_context> cleaning_;
};

}  // namespace sluice::lib::detail
