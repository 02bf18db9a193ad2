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

  /// Writes `bytes`, in which elements end at the offsets `ends`. `accepted`: how many bytes arrived, all of them after ok.
  /// Errors: the file's; cancelled: an interrupt ended a wait for a reader; with closed(): the reader is gone.
  virtual status write(std::string_view bytes, const std::vector<std::size_t>& ends, std::size_t& accepted) = 0;
  /// The first `size` bytes, which are not written yet, change until the end: they are no part of checksums.
  virtual status reserve_head(std::size_t size) = 0;
  /// Writes over them. REQUIRES: as many as were reserved, and are written.
  virtual status write_head(std::string_view bytes) = 0;
  /// Does somebody read along, so that elements should not be kept until there are many?
  virtual bool is_watched() const { return false; }
  /// Makes durable what was written. `place`: which file, how far; untouched where a resume cannot cut back (a pipe).
  virtual status commit(shard_place& place) = 0;
  /// Called before a checkpoint is written that names the place of the last commit(): from now on a run may resume
  /// there.
  virtual void keep() {}
  /// After commit(): the output takes its name.
  virtual status finish() { return {}; }
  bool closed() const { return closed_; }

 protected:
  bool closed_ = false;
};

}  // namespace sluice::lib
