// SPDX-License-Identifier: Apache-2.0
// An output that is a regular file under a path, and that can be resumed at a checkpoint.
//
// A new output is written beside the path (PATH.partial) and takes the name in finish(). Until then the previous file
// stays readable. A resumed output is cut back to the checkpoint's length and grows in place, as PATH.partial. If it has
// its name, since the run before was complete (it ended at a limit), it is renamed back before the first byte is added
// or removed: nothing incomplete has the final name. Nothing is copied.
//
// A crash may happen at any step. commit() synchronizes the file. Then keep() is called, and the checkpoint that names
// the file (inode and length) replaces the previous one. Then finish() renames the file. Therefore the bytes named by
// the checkpoint on the disk are on the disk too, in a file with that inode, at PATH.partial or at PATH. The resume
// cuts off the bytes that a crash left beyond the length, and removes a PATH.partial that no checkpoint of the resumed
// run names.
//
// Without finish() a new file is removed, unless a checkpoint may name it; a resumed file is cut back to the last
// length that a checkpoint may name, and stays PATH.partial; a file that was complete before, and has no more bytes than
// then, gets its name again.
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

  /// Returns true if something exists at this path that is not a regular file. (Such an output is a stream.)
  static bool is_stream(const std::string& path);

  status begin(const std::string& path);
  /// `cut_bytes`: the number of bytes removed. `was_named`: the path when the checkpoint was written. If `from` is not
  /// a file, it describes no output, and the output must not exist yet.
  status resume(const std::string& path, const std::string& was_named, const shard_place& from,
                std::uint64_t& cut_bytes);

  status write(std::string_view bytes, const std::vector<std::size_t>& ends, std::size_t& accepted) override;
  status reserve_head(std::size_t size) override;
  status write_head(std::string_view bytes) override;
  status commit(shard_place& place) override;
  void keep() override;
  status finish() override;

 private:
  /// Renames a file that has its name back to PATH.partial, before it changes.
  status withdraw();
  /// Opens `file` if it is the output that `from` describes. `exists` is set to true if the file exists.
  status take_up(const std::string& file, const std::string& was_named, const shard_place& from, bool& exists);
  status create();
  locked_target at_;
  std::string path_;
  int file_ = -1;
  bool is_partial_ = true;  ///< still beside its name
  bool was_whole_ = false;  ///< withdraw() renamed a complete file, from which nothing was cut
  std::uint64_t whole_bytes_ = 0;
  bool is_name_synced_ = true;  ///< the open file would be found after a power failure
  bool is_synced_ = false;      ///< all bytes are on the disk
  std::uint64_t length_bytes_ = 0;
  std::uint64_t head_bytes_ = 0;
  std::uint32_t crc_ = 0;  ///< of the bytes after the head
  bool is_named_ = false;  ///< a checkpoint may name the open file
  std::uint64_t named_bytes_ = 0;
};

}  // namespace sluice::lib
