// SPDX-License-Identifier: Apache-2.0
// What store_writer writes to HDFS: a file of another name in the target's folder, which is given the target's name at the end.
//
// The parts are appended, one after the other. An attempt whose answer was lost may have brought all, some or nothing of its
// part: the next one goes on where the file ends, and the length of the whole is compared before it gets its name.
// Thread: as store_writer.
#pragma once

#include "io/hdfs/data_node_service.hpp"
#include "io/hdfs/hdfs_answers.hpp"
#include "io/stores/object_store.hpp"

namespace sluice::lib::detail {

class hdfs_upload final : public upload_store {
 public:
  /// `place`: of the target.
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
  /// The file that is written, by the name that it has until the end.
  hdfs_place place_of(const store_upload& upload) const;
  task<> create(hdfs_place at, std::span<const char> bytes, time_point deadline);
  task<> append(hdfs_place at, std::uint64_t from, std::string what, std::span<const char> bytes, time_point deadline);
  task<> rename(hdfs_place from, hdfs_entry written, time_point deadline);

  const hdfs_place target_;
};

}  // namespace sluice::lib::detail
