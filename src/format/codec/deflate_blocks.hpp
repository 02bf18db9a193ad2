// SPDX-License-Identifier: Apache-2.0
// Finds places between the blocks of a deflate stream that ISA-L inflates, for seek points.
//
//   deflate_blocks blocks(notes);
//   blocks.begin(in_bytes, out_bytes);                                // a member's first byte
//   in = in.substr(0, blocks.until_place(state, in));                 // before each isal_inflate
//   blocks.note(state, consumed, {out, produced});                    // after it
//
// ISA-L does not stop at the end of a block. Where a point is wanted, a copy of its state inflates the same bytes with
// the block marked as the last one of its stream, and so stops exactly behind it. The state itself then gets the bytes up
// to there, waits for the header of the next block, and has the bits of the last byte that are left. The copy inflates
// one block for each point.
// Thread: one caller at a time.
#pragma once

#include <isa-l/igzip_lib.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/format/seek_points.hpp"

namespace sluice::lib::detail {

class deflate_blocks {
 public:
  explicit deflate_blocks(seek_point_builder& to) : to_(to) {}
  /// The deflate stream's member begins at these offsets of the file.
  void begin(std::uint64_t in_bytes, std::uint64_t out_bytes);
  /// Returns how many bytes of `in`, which `state` gets next, may be inflated at once.
  std::size_t until_place(const inflate_state& state, std::string_view in);
  void note(const inflate_state& state, std::size_t consumed, std::string_view produced);

 private:
  /// Inflates by the copy until its block ends, or `in` does.
  void look_ahead(std::string_view in);
  void remember(std::string_view produced);
  void add_point(const inflate_state& state);

  seek_point_builder& to_;
  std::uint64_t member_in_ = 0, member_out_ = 0;  ///< offsets of the member's first byte
  std::uint64_t in_ = 0, out_ = 0;                ///< bytes of the member so far
  std::string window_;                            ///< the last plain bytes of the member
  std::unique_ptr<inflate_state> copy_;           ///< while the end of a block is looked for
  std::vector<char> scratch_;                     ///< for what the copy inflates
  bool is_found_ = false;                         ///< the copy has reached the end of the block
  std::uint64_t ahead_in_ = 0, ahead_out_ = 0;    ///< of the copy
};

}  // namespace sluice::lib::detail
