// SPDX-License-Identifier: Apache-2.0
// An output that is written in place: standard output, a pipe, a device.
//
// A write waits for a slow reader, and an interrupt ends the wait. A pipe receives at most PIPE_BUF bytes at a time.
// Unless an element is longer than that, each write ends with an element, so that no element is split.
// Errors: see byte_output.
#pragma once

#include <string>

#include "output/byte_output.hpp"

namespace sluice::lib {

class output_stream final : public byte_output {
 public:
  /// `name`: for errors. `stop_fd`: readable once the run must end; -1: never. `owns`: closes `fd`.
  output_stream(int fd, std::string name, int stop_fd, bool owns);
  ~output_stream() override;

  /// If standard output is the file that a checkpoint names, cuts it back. `cut_bytes`: the number of bytes removed.
  /// Errors: failed_precondition: standard output is that file, and is shorter or altered.
  status resume(const output_place& from, std::uint64_t& cut_bytes);
  /// Returns true if standard output is the file that a checkpoint names.
  bool is_file_of(const output_place& from) const;

  status write(std::string_view bytes, const std::vector<std::size_t>& ends, std::size_t& accepted) override;
  /// Errors: invalid_argument: bytes that a reader may have read cannot be changed.
  status reserve_head(std::size_t size) override;
  status write_head(std::string_view bytes) override;
  bool is_watched() const override { return true; }
  /// For a regular file: synchronizes it and returns its place.
  status commit(shard_place& place) override;

 private:
  /// Waits until the output accepts bytes. `in_element`: an element is partly written.
  status wait(bool in_element);
  status write_pieces(std::string_view bytes, const std::vector<std::size_t>& ends, std::size_t& accepted);
  int open_readable() const;
  status failed(const char* what) const;
  const int fd_;
  const std::string name_;
  const int stop_fd_;
  const bool owns_;
  bool is_regular_ = false;
  std::size_t surplus_bytes_ = 0;  ///< the bytes written of an element that is incomplete
};

/// Writes `text` to standard output, and waits for a reader if necessary. Returns false on errors, with errno set.
bool write_to_standard_output(std::string_view text);

}  // namespace sluice::lib
