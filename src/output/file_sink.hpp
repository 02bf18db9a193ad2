// SPDX-License-Identifier: Apache-2.0
// Writes the elements of a run to files: one file, a fixed number that alternate, or as many as a size limit requires.
//
// Element i goes to shard i mod `shards`. With `shard_bytes`, it goes to the open file, which ends with the element
// that brings it to that size (before compression). The distribution depends only on the elements, so that a resumed
// run writes the same files.
// For complete files, see output_file. Shards that alternate get their names at the end. A shard with a size limit gets
// its name as soon as it reaches the limit, so that at most one file is open. At the end, files of an earlier output
// that would follow the last shard (out-00007.csv after seven shards) are removed: a shorter output replaces a longer
// one.
// A path that ends with a slash names a data folder (data_folder.hpp): the files are part.arrow, or its shards, and a
// manifest describes them. Files of an earlier output that the new manifest does not name are removed at the end.
// Under a path with a scheme (s3://…), files are remote_files. send(), which a task awaits, transfers them. A run
// with one such file cannot be resumed; one with files by size (shard_bytes) can.
// Memory: what an encoder keeps until its file ends is charged to the runtime's ledger.
// Errors: see output_file, element_encoder; resource_exhausted: what is kept exceeds the memory budget.
// Thread: one caller; it blocks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "output/element_sink.hpp"
#include "output/kept_memory.hpp"
#include "output/output_part.hpp"
#include "output/remote_output.hpp"
#include "output/shard_names.hpp"

namespace sluice::lib {

struct output_options {
  output_format format = output_format::jsonl;  ///< not automatic
  lib::compression compression = lib::compression::none;
  lib::compression buffers = lib::compression::automatic;  ///< of the buffers of Arrow, and the pages of Parquet
  std::uint64_t row_group_bytes = 0;                       ///< of the values in a row group of Parquet; 0: 64 MiB
  std::string path;                                        ///< empty: standard output
  /// An open descriptor to write to: standard output, or the open file that a path such as /dev/stdout, /dev/fd/3 or
  /// /proc/self/fd/3 names. Such a path is not opened, since that would truncate or replace the file. -1: the file that
  /// the path names.
  int descriptor = -1;
  std::string folder = {};   ///< the data folder that `path` is in, with its slash; empty: none. See place_in_folder()
  std::string origin = {};   ///< data_folder::origin
  bool by_function = false;  ///< the caller assigns elements to shards, by take_to()
  runtime* rt = nullptr;     ///< for the file systems of remote outputs
  int stop_fd = -1;          ///< readable once the run must end: see output_stream
  std::uint64_t shards = 1;
  std::uint64_t shard_bytes = 0;      ///< not 0: starts as many shards as this size requires
  std::optional<tensor_spec> rows{};  ///< for tensors, if known before the first element

  bool is_sharded() const { return shards != 1 || shard_bytes != 0; }
  bool is_remote() const;
};

/// If the path ends with a slash, names the files of that folder, and sets the format `arrow` if none is given. Errors:
/// invalid_argument: the folder is remote, or the format has no boundaries of elements.
status place_in_folder(output_options& o);
/// Errors: invalid_argument: the run must be resumable, but its output is one remote file, or its checkpoint is remote.
status check_can_resume(const output_options& o, const std::string& checkpoint_path);

/// The place at which a new run of the same plan resumes.
struct output_start {
  bool continues = false;  ///< append to the output of a checkpoint's run, which ended at `from`
  output_place from = {};
};

class file_sink final : public element_sink {
 public:
  /// `cut_bytes`: the number of bytes that were written after the checkpoint, and are removed. Errors: as above; a
  /// checkpoint of another output.
  static result<std::unique_ptr<file_sink>> open(const output_options& o, const element_type& type,
                                                 const output_start& start, std::uint64_t& cut_bytes);

  status take(const block& elements) override;
  /// Writes element `i` of the block to this shard. REQUIRES: by_function, shard < shards.
  status take_to(std::size_t shard, const block& elements, std::uint32_t i);
  std::uint32_t taken() const override;
  status end_shard() override;
  status commit(output_place& place) override;
  void keep() override;
  status finish(bool may_go_on) override;
  bool has_unsent() const override;
  task<> send() override;
  std::uint32_t wanted(const element_type& type) const override;
  bool closed() const override;

  // The number of elements written by this run and those before it.
  std::uint64_t elements() const { return elements_; }
  std::uint64_t files() const { return first_shard_ + parts_.size(); }
  /// The bytes written by this run, compressed if they are.
  std::uint64_t written_bytes() const;

 private:
  file_sink(const output_options& o, const element_type& type);
  status resume(const output_start& start, std::uint64_t& cut_bytes);
  status check_same_output(const output_place& from) const;
  status begin_part();
  std::uint64_t group_bytes() const;
  status open_part(const output_place* from, std::size_t index, std::uint64_t& cut_bytes);
  result<std::unique_ptr<byte_output>> open_stream(const output_place* from, bool& is_begun, std::uint64_t& cut_bytes);
  status take_by_size(const block& elements);
  /// Charges what the encoders keep. Errors: resource_exhausted.
  status charge_kept();
  status finish_part();
  status remove_later_shards() const;
  task<> refuse_later_shard();
  status begin_folder(bool continues);
  /// Writes the index of a folder of MDS, or removes an earlier one.
  status index_mds_folder(bool is_complete) const;
  /// Writes the manifest, unless the output is in no folder.
  status mark_folder(bool is_complete);
  void remove_old_files() const;
  std::string name_of(std::uint64_t shard) const { return o_.is_sharded() ? names_.name(shard) : o_.path; }

  const output_options o_;
  const element_type& type_;
  const shard_names names_;
  std::vector<std::unique_ptr<output_part>> parts_;
  kept_memory kept_;
  std::vector<std::shared_ptr<remote_file>> remote_;  ///< the files that have no name yet
  std::uint64_t part_elements_ = 0;                   ///< in the shard that is being written by size
  std::vector<std::string> old_files_;                ///< that the folder's manifest named before
  bool is_marked_ = false;                            ///< the folder's manifest is this output's
  bool replaces_ = false;          ///< the output ended without error: no later shard of an earlier output may remain
  std::uint64_t first_shard_ = 0;  ///< the number of the shard parts_[0]
  std::map<std::uint64_t, std::string> digests_;  ///< of the shards that this run has written, if they have one
  std::uint64_t elements_ = 0;
  std::uint64_t finished_bytes_ = 0, bytes_before_ = 0;
};

}  // namespace sluice::lib
