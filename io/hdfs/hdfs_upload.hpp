// SPDX-License-Identifier: Apache-2.0
// Writes files to HDFS for store_writer: to a temporary file in the target's folder, which is renamed to the target at
// the end.
//
// The parts are appended one after another. An attempt whose answer was lost may have appended all, some or nothing of
// its part, so the next attempt continues at the file's end. The length of the whole file is compared before it is
// renamed.
// Thread: as store_writer.
#pragma once

#include "io/hdfs/data_node_service.hpp"
#include "io/hdfs/hdfs_answers.hpp"
#include "io/stores/object_store.hpp"

namespace sluice::lib::detail {

class hdfs_upload final : public upload_store {
 public:
  /// `place`: the target.
  explicit hdfs_upload(hdfs_place place) : target_(std::move(place)) {}

  task<file_info> put(store_path path, std::span<const char> bytes, time_point deadline) override;
  task<store_upload> begin_upload(store_path path, time_point deadline) override;
  task<std::string> put_part(const store_upload& to, std::size_t number, std::span<const char> bytes,
                             time_point deadline) override;
  task<file_info> finish_upload(store_upload upload, std::span<const char> last, time_point deadline) override;
  task<> abort_upload(store_upload upload, time_point deadline) override;
  std::size_t parts_at_once() const override { return 0; }
  bool puts_whole() const override { return false; }

 private:
  /// Returns the place of the temporary file.
  hdfs_place place_of(const store_upload& upload) const;
  task<> create(hdfs_place at, std::span<const char> bytes, time_point deadline);
  task<> append(hdfs_place at, std::uint64_t from, std::string what, std::span<const char> bytes, time_point deadline);
  task<> rename(hdfs_place from, hdfs_entry written, time_point deadline);

  const hdfs_place target_;
};

}  // namespace sluice::lib::detail
