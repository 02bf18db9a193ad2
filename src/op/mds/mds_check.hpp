// SPDX-License-Identifier: Apache-2.0
// Compares the bytes of a shard with the digest that the index states, if they are read from the first to the last.
//
//   mds_check check(shard.raw_hash, shard.raw_bytes);
//   check.add(0, head);                                         // in order; other bytes end the check
//   status why = check.result();                                // after each piece
//
// Thread: one caller.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "format/codec/file_digests.hpp"
#include "op/mds/mds_index.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib {

class mds_check {
 public:
  mds_check() = default;
  /// Without a known digest nothing is checked.
  mds_check(const mds_hash& stated, std::uint64_t bytes)
      : stated_(stated), bytes_(bytes), digest_(file_digest::make(stated.name)) {}

  /// Returns true while the bytes from `next()` on are expected.
  bool is_open() const { return digest_ != nullptr; }
  std::uint64_t next() const { return next_; }
  void add(std::uint64_t offset, std::string_view bytes);
  /// Ends the check: some bytes are not read.
  void drop() { digest_.reset(); }
  /// Returns data_loss, with both digests, once all bytes were added and the digest differs.
  status result();

 private:
  mds_hash stated_;
  std::uint64_t bytes_ = 0, next_ = 0;
  std::unique_ptr<file_digest> digest_;  ///< null: nothing is left to check
};

}  // namespace sluice::lib
