// SPDX-License-Identifier: Apache-2.0
// Places of a compressed file from which it can be inflated without the bytes before them.
//
//   seek_point_builder notes;
//   inflater gz(compression::gzip);
//   gz.note_points(notes);                                    // … inflate the file to its end
//   std::vector<seek_point> points = notes.take();
//   inflater again(compression::gzip);
//   status why = again.go_to(points[3]);                      // the input continues at points[3].in_bytes
//
// A member (of gzip, lz4 or bzip2), a frame of zstd and a stream of xz begin without the bytes before them, so their
// places cost nothing. Within a member of gzip or zlib a place is the beginning of a block of deflate, with the 32 KiB of
// plain bytes before it, to which the block may refer (zran of zlib does the same). The other formats have no places
// within a member.
// Units:  in_bytes: offsets in the compressed file; out_bytes: in the plain one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/base/field_types.hpp"

namespace sluice::lib {

struct seek_point {
  std::uint64_t in_bytes = 0;      ///< the offset of the byte that has the first bit
  std::uint64_t out_bytes = 0;     ///< the offset of the first plain byte
  std::uint32_t used_bits = 0;     ///< bits of that byte that belong to the bytes before
  bool is_within_member = false;   ///< false: a member begins here, and the other values are 0
  std::uint32_t checksum = 0;      ///< of the member's plain bytes so far, as its codec counts it
  std::uint64_t member_bytes = 0;  ///< plain bytes of the member so far
  std::string window;              ///< the plain bytes before the place, up to 32 KiB, by gzip
  friend bool operator==(const seek_point&, const seek_point&) = default;
};

/// Returns the last point at or before a plain byte; null if there is none.
const seek_point* seek_point_before(const std::vector<seek_point>& points, std::uint64_t out_bytes);

/// Returns true if inflating a file of this format can begin anywhere but at the start of the file.
constexpr bool has_seek_points(compression c) {
  return c == compression::gzip || c == compression::zlib || c == compression::zstd || c == compression::lz4 ||
         c == compression::bzip2 || c == compression::xz;
}

/// Collects the points of a file while it is inflated, in ascending order, and drops some when they are many: at most
/// 65,536 of members, and 1,024 with a window.
class seek_point_builder {
 public:
  /// The distance of points within a member, until there are 1,024: a seek inflates half of it in the mean. Inflating the
  /// file costs about a twentieth more for them.
  static constexpr std::uint64_t kWithinSpacing = std::uint64_t{2} << 20;

  explicit seek_point_builder(std::uint64_t within_spacing = kWithinSpacing) : within_spacing_(within_spacing) {}
  /// A member begins at these offsets.
  void add_member(std::uint64_t in_bytes, std::uint64_t out_bytes);
  /// Returns true if a point within a member is wanted at the first possible place from this plain byte on.
  bool wants_within(std::uint64_t out_bytes) const { return !is_stopped_ && out_bytes - last_out_ >= within_spacing_; }
  /// `plain_before`: the plain bytes before the place, at most 32 KiB.
  void add_within(seek_point point, std::string_view plain_before);
  /// Frees the points, and adds none any more.
  void stop() {
    points_ = {};
    window_bytes_ = 0;
    is_stopped_ = true;
  }
  /// The memory of the points.
  std::size_t memory_bytes() const { return points_.capacity() * sizeof(seek_point) + window_bytes_; }
  std::vector<seek_point> take() { return std::move(points_); }

 private:
  void drop_some(bool within, std::uint64_t spacing);

  std::vector<seek_point> points_;
  std::uint64_t within_spacing_, member_spacing_ = std::uint64_t{32} << 10;
  std::uint64_t last_out_ = 0;  ///< of the last point of any kind
  std::size_t within_count_ = 0, member_count_ = 0;
  std::size_t window_bytes_ = 0;
  bool is_stopped_ = false;
};

}  // namespace sluice::lib
