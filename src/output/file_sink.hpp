// SPDX-License-Identifier: Apache-2.0
// The elements of a run in files: one, a fixed number that take turns, or as many as it takes when each may be so long.
//
// Element i goes to shard i mod `shards`; with `shard_bytes` to the file that is open, which ends with the element by which
// it has so many bytes (before compression). What goes where depends on the elements only, so that a resumed run writes
// the same files.
// Whole files: see output_file. Shards that take turns get their names at the end; one that has reached its size at once,
// so that no more than one file is open. When those have come to their end, files of an earlier output that would follow the
// last one (out-00007.csv after seven shards) are removed: a shorter output replaces a longer one.
// Under a path with a scheme (s3://…) files are remote_files: they are sent by send(), which a task awaits, and no run can
// be gone on with whose output they are.
// Errors: see output_file, element_encoder.
// Thread: one caller; it blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "output/element_sink.hpp"
#include "output/output_part.hpp"
#include "output/remote_output.hpp"
#include "output/shard_names.hpp"

namespace sluice::lib {

struct output_options {
  output_format format = output_format::jsonl;  ///< not automatic
  lib::compression compression = lib::compression::none;
  std::string path;  ///< empty: standard output
  /// An open descriptor to write to: standard output, or the open file that a path such as /dev/stdout, /dev/fd/3 or
  /// /proc/self/fd/3 names. Such a path is not opened, since that would truncate or replace the file. -1: the file that
  /// the path names.
  int descriptor = -1;
  runtime* rt = nullptr;  ///< whose file systems remote outputs go to
  int stop_fd = -1;       ///< readable once the run is to end: see output_stream
  std::uint64_t shards = 1;
  std::uint64_t shard_bytes = 0;      ///< not 0: starts as many shards as this size requires
  std::optional<tensor_spec> rows{};  ///< of tensors, where it is known before there is one

  bool is_sharded() const { return shards != 1 || shard_bytes != 0; }
  bool is_remote() const;
};

/// Errors: invalid_argument: the run is to be resumable, but its output or its checkpoint is remote.
status check_can_go_on(const output_options& o, const std::string& checkpoint_path);

/// The place at which a new run of the same plan resumes.
struct output_start {
  bool continues = false;  ///< with what a checkpoint's run wrote, which ended at …
  output_place from = {};
};

class file_sink final : public element_sink {
 public:
  /// `cut_bytes`: how much of what stood there was written after the checkpoint, and is gone. Errors: as above; a checkpoint
  /// of another output.
  static result<std::unique_ptr<file_sink>> open(const output_options& o, const element_type& type,
                                                 const output_start& start, std::uint64_t& cut_bytes);

  status take(const block& elements) override;
  std::uint32_t taken() const override;
  status commit(output_place& place) override;
  void keep() override;
  status finish(bool may_go_on) override;
  bool has_unsent() const override;
  task<> send() override;
  std::uint32_t wanted(const element_type& type) const override;
  bool closed() const override;

  // The number of elements in this run and those before it.
  std::uint64_t elements() const { return elements_; }
  std::uint64_t files() const { return first_shard_ + parts_.size(); }
  /// The bytes written by this run, compressed if they are.
  std::uint64_t written_bytes() const;

 private:
  file_sink(const output_options& o, const element_type& type);
  status go_on(const output_start& start, std::uint64_t& cut_bytes);
  status check_same_output(const output_place& from) const;
  status begin_part();
  status open_part(const output_place* from, std::size_t index, std::uint64_t& cut_bytes);
  result<std::unique_ptr<byte_output>> open_stream(const output_place* from, bool& is_begun, std::uint64_t& cut_bytes);
  status take_by_size(const block& elements);
  status finish_part();
  status remove_later_shards() const;
  task<> refuse_later_shard();
  std::string name_of(std::uint64_t shard) const { return o_.is_sharded() ? names_.name(shard) : o_.path; }

  const output_options o_;
  const element_type& type_;
  const shard_names names_;
  std::vector<std::unique_ptr<output_part>> parts_;
  std::vector<std::shared_ptr<remote_file>> remote_;  ///< the files that do not have their names yet
  bool replaces_ = false;          ///< it ended well: no later shard of an earlier output may be there
  std::uint64_t first_shard_ = 0;  ///< the number of the shard parts_[0]
  std::uint64_t elements_ = 0;
  std::uint64_t finished_bytes_ = 0, bytes_before_ = 0;
};

}  // namespace sluice::lib
