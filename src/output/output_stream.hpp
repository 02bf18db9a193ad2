// SPDX-License-Identifier: Apache-2.0
// An output that is written to as it stands: standard output, a pipe, a device.
//
// A reader that does not read is waited for, and an interrupt ends the wait. To a pipe at most PIPE_BUF bytes go at a time,
// and as long as elements are no longer than that they end with an element, so that none is cut in two.
// Errors: see byte_output.
#pragma once

#include <string>

#include "output/byte_output.hpp"

namespace sluice::lib {

class output_stream final : public byte_output {
 public:
  /// `name`: for errors. `stop_fd`: readable once the run is to end; -1: never. `owns`: closes `fd`.
  output_stream(int fd, std::string name, int stop_fd, bool owns);
  ~output_stream() override;

  /// If standard output is the file that a checkpoint names, cuts it back. `cut_bytes`: the number of bytes removed.
  /// Errors: failed_precondition: it is that file, and shorter or altered.
  status go_on(const output_place& from, std::uint64_t& cut_bytes);
  /// Is standard output the file that a checkpoint names?
  bool is_file_of(const output_place& from) const;

  status write(std::string_view bytes, const std::vector<std::size_t>& ends, std::size_t& accepted) override;
  /// Errors: invalid_argument: what was read along cannot be changed.
  status reserve_head(std::size_t size) override;
  status write_head(std::string_view bytes) override;
  bool is_watched() const override { return true; }
  /// Of a regular file: synchronised, with its place.
  status commit(shard_place& place) override;

 private:
  /// Ok: it takes bytes now. `in_element`: an element is there by half.
  status wait(bool in_element);
  status write_pieces(std::string_view bytes, const std::vector<std::size_t>& ends, std::size_t& accepted);
  int open_readable() const;
  status failed(const char* what) const;
  const int fd_;
  const std::string name_;
  const int stop_fd_;
  const bool owns_;
  bool is_regular_ = false;
  std::size_t surplus_bytes_ = 0;  ///< written of an element that did not arrive whole
};

/// Writes `text` to standard output, waiting for a reader where it has to. False: errno says why.
bool write_to_standard_output(std::string_view text);

}  // namespace sluice::lib
