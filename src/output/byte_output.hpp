// SPDX-License-Identifier: Apache-2.0
// The destination of an output's bytes: a regular file under a path (output_file), or a stream: standard output, a
// pipe, a device (output_stream).
//
// Thread: one caller; it blocks.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "output/output_place.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib {

class byte_output {
 public:
  byte_output() = default;
  byte_output(const byte_output&) = delete;
  byte_output& operator=(const byte_output&) = delete;
  virtual ~byte_output() = default;

  /// Writes `bytes`, in which elements end at the offsets `ends`. `accepted`: the number of bytes that were written;
  /// all of them if the status is ok. Errors: the file's; cancelled: an interrupt ended a wait for a reader; with
  /// closed(): the reader is gone.
  virtual status write(std::string_view bytes, const std::vector<std::size_t>& ends, std::size_t& accepted) = 0;
  /// Reserves the first `size` bytes. They change until the end, so checksums exclude them. Called before they are
  /// written.
  virtual status reserve_head(std::size_t size) = 0;
  /// Overwrites the reserved bytes. REQUIRES: `bytes` has the reserved size, and the reserved bytes are written.
  virtual status write_head(std::string_view bytes) = 0;
  /// Returns true if a reader may be waiting for elements, so that they should be written at once rather than gathered.
  virtual bool is_watched() const { return false; }
  /// Makes the written bytes durable. `place`: the file and its length; unchanged if a resume cannot cut the output
  /// back (a pipe).
  virtual status commit(shard_place& place) = 0;
  /// Called before a checkpoint is written that names the place of the last commit(). From now on a run may resume at
  /// that place.
  virtual void keep() {}
  /// After commit(): the output takes its name.
  virtual status finish() { return {}; }
  bool closed() const { return closed_; }

 protected:
  bool closed_ = false;
};

}  // namespace sluice::lib
