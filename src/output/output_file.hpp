// SPDX-License-Identifier: Apache-2.0
// An output that is a regular file under a path, and can be resumed at a checkpoint.
//
// A new output is written beside the path (PATH.partial) and takes the name in finish(); what stood there until then can
// be read. A resumed one is cut back to the checkpoint's length and grows where it is: under its name where an earlier
// run finished it, else as PATH.partial, which that run left when it was killed. Nothing is copied.
//
// Every order of crash. commit() synchronises the file, then keep() is called and the checkpoint that names the file
// (inode and length) replaces the one before, then finish() renames. So whichever checkpoint is on the disk, the
// bytes it speaks of are, too, in a file with that inode, which is at PATH.partial or at PATH. What a crash left beyond
// the length is cut off by the resume, and a PATH.partial that no checkpoint of the resumed run names is removed.
//
// Without finish() a new file is removed, unless a checkpoint may name it; a resumed file is cut back to the last
// length that a checkpoint may name.
// Errors: see byte_output, locked_target and check_place.
#pragma once

#include <cstdint>
#include <string>

#include "base/files/locked_target.hpp"
#include "output/byte_output.hpp"

namespace sluice::lib {

class output_file final : public byte_output {
 public:
  output_file() = default;
  ~output_file() override;

  /// Is there something at this path that is no regular file? (Such an output is a stream.)
  static bool is_stream(const std::string& path);

  status begin(const std::string& path);
  /// `cut_bytes`: how many went. `was_named`: the path when the checkpoint was taken. A `from`
  /// that is no file says nothing of an output: then it must not be there yet.
  status go_on(const std::string& path, const std::string& was_named, const shard_place& from,
               std::uint64_t& cut_bytes);

  status write(std::string_view bytes, const std::vector<std::size_t>& ends, std::size_t& accepted) override;
  status reserve_head(std::size_t size) override;
  status write_head(std::string_view bytes) override;
  status commit(shard_place& place) override;
  void keep() override;
  status finish() override;

 private:
  /// Opens `file` if it is the output that `from` speaks of. `exists`: is there such a file?
  status take_up(const std::string& file, const std::string& was_named, const shard_place& from, bool& exists);
  status create();
  locked_target at_;
  std::string path_;
  int file_ = -1;
  bool is_partial_ = true;      ///< beside its name still
  bool is_name_synced_ = true;  ///< would the open file be found after a power cut?
  bool is_synced_ = false;      ///< has the disk all bytes?
  std::uint64_t length_bytes_ = 0;
  std::uint64_t head_bytes_ = 0;
  std::uint32_t crc_ = 0;  ///< of what is behind the head
  bool is_named_ = false;  ///< may a checkpoint name the open file?
  std::uint64_t named_bytes_ = 0;
};

}  // namespace sluice::lib
