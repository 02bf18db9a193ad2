// SPDX-License-Identifier: Apache-2.0
// The common part of the readers of tar archives. tar and webdataset find different elements in the same blocks.
#pragma once

#include "engine/files/file_stage.hpp"
#include "format/archive/tar_archive.hpp"

namespace sluice::lib {

/// A format whose elements begin at blocks of 512 bytes, and whose files end with blocks of zeros. Thread: the stage's.
class tar_format : public element_format {
 public:
  std::size_t overlap_bytes() const final { return kTarBlockBytes - 1; }
  bool may_begin(const byte_window& rest, std::string_view) const final {
    return rest.offset % kTarBlockBytes == 0 || (rest.last && rest.bytes.empty());
  }
  std::size_t place_bytes() const final { return kTarBlockBytes; }
  bool is_place(const byte_window& rest, std::string_view) const final {
    return find_tar_entry(framed(rest), 0, 1) == 0;
  }

 protected:
  static tar_window framed(const byte_window& w) {
    return {.bytes = w.view(), .end = w.end, .offset = w.offset, .last = w.last};
  }
  /// Finds no element: the file has ended, or its next block is needed.
  static found none_in(const byte_window& w) {
    found f;
    f.needed_bytes = kTarBlockBytes;
    f.ended = w.last && w.bytes.empty();
    return f;
  }
  /// Reads the blocks after the last entry.
  found behind_end(const byte_window& w) const {
    tar_tail tail = read_tar_tail(framed(w));
    is_in_tail_ = tail.why.ok();
    found f;
    f.used_bytes = tail.used_bytes;
    f.needed_bytes = tail.needed_bytes;
    f.ended = tail.has_ended;
    f.why = std::move(tail.why);
    return f;
  }

  mutable bool is_in_tail_ = false;  // a stage has a format of its own: one thread at a time
};

}  // namespace sluice::lib
