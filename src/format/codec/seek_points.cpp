// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/seek_points.hpp"

#include <algorithm>

#include "sluice/format/deflate.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kPointsWithinMax = std::size_t{1} << 10;
constexpr std::size_t kPointsOfMembersMax = std::size_t{1} << 16;

}  // namespace

const seek_point* seek_point_before(const std::vector<seek_point>& points, std::uint64_t out_bytes) {
  auto behind = std::upper_bound(points.begin(), points.end(), out_bytes,
                                 [](std::uint64_t at, const seek_point& p) { return at < p.out_bytes; });
  return behind == points.begin() ? nullptr : &*std::prev(behind);
}

void seek_point_builder::add_member(std::uint64_t in_bytes, std::uint64_t out_bytes) {
  if (is_stopped_ || in_bytes == 0 || out_bytes - last_out_ < member_spacing_) return;
  seek_point point;
  point.in_bytes = in_bytes;
  point.out_bytes = last_out_ = out_bytes;
  points_.push_back(std::move(point));
  if (++member_count_ >= kPointsOfMembersMax) drop_some(false, member_spacing_ *= 2);
}

void seek_point_builder::add_within(seek_point point, std::string_view plain_before) {
  deflater packing;
  packing.append(plain_before, point.window);
  packing.end_member(point.window);
  window_bytes_ += point.window.capacity();
  last_out_ = point.out_bytes;
  points_.push_back(std::move(point));
  if (++within_count_ >= kPointsWithinMax) drop_some(true, within_spacing_ *= 2);
}

void seek_point_builder::drop_some(bool within, std::uint64_t spacing) {
  std::uint64_t last = 0;
  std::erase_if(points_, [&](const seek_point& p) {
    if (p.is_within_member == within && p.out_bytes - last < spacing) {
      window_bytes_ -= p.window.capacity();
      return true;
    }
    last = p.out_bytes;
    return false;
  });
  within_count_ = static_cast<std::size_t>(
      std::count_if(points_.begin(), points_.end(), [](const seek_point& p) { return p.is_within_member; }));
  member_count_ = points_.size() - within_count_;
}

}  // namespace sluice::lib
