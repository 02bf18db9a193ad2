// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/record_index.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/files/entity_tag.hpp"
#include "sluice/base/crc32c.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib {
namespace {

constexpr std::string_view kIndexMagic("sluice index\x02", 13);  // the last byte is the format's version
constexpr std::size_t kIndexChecksumBytes = 4;
constexpr std::uint64_t kBitsOfByte = 8;
/// A read of this length costs little more than a shorter one.
constexpr std::uint64_t kSpacingMax = std::uint64_t{32} << 10;
/// A search of this length costs less than a read.
constexpr std::uint64_t kSpacingMin = 256;
constexpr std::uint64_t kPlacesOfSmallFile = std::uint64_t{1} << 13;

status damaged_index(std::string_view what) {
  return data_loss_error(absl::StrCat("the index is damaged: ", std::string(what)));
}

void write_points(const std::vector<seek_point>& points, position_writer& w) {
  w.number(points.size());
  const seek_point none;
  const seek_point* before = &none;
  for (const seek_point& p : points) {
    w.number(p.in_bytes - before->in_bytes);
    w.number(p.out_bytes - before->out_bytes);
    w.number(p.used_bits + (p.is_within_member ? kBitsOfByte : 0));
    before = &p;
    if (!p.is_within_member) continue;
    w.raw(&p.checksum, sizeof p.checksum);
    w.number(p.member_bytes);
    w.text(p.window);
  }
}

/// Returns false if the points are not those of a file with these sizes.
bool read_points(position_reader& r, record_index& to) {
  const std::uint64_t points = r.number();
  if (!r.ok() || points > r.remaining().size()) return false;  // a point takes more than a byte
  std::uint64_t in = 0, out = 0;
  for (std::uint64_t i = 0; i != points && r.ok(); ++i) {
    seek_point p;
    const std::uint64_t in_distance = r.number(), out_distance = r.number(), bits = r.number();
    if (in_distance > to.size_bytes - in || out_distance == 0 || out_distance > to.plain_bytes - out ||
        bits >= 2 * kBitsOfByte)
      return false;
    p.in_bytes = in += in_distance;
    p.out_bytes = out += out_distance;
    p.used_bits = static_cast<std::uint32_t>(bits % kBitsOfByte);
    p.is_within_member = bits >= kBitsOfByte;
    if (p.is_within_member) {
      r.raw(&p.checksum, sizeof p.checksum);
      p.member_bytes = r.number();
      p.window = r.text();
    }
    to.points.push_back(std::move(p));
  }
  return r.ok();
}

/// Returns false if the places are not those of a file with these sizes.
bool read_places(position_reader& r, record_index& to) {
  const std::uint64_t places = r.number();
  // A place takes two bytes or more, so a forged number cannot cause a large allocation.
  if (!r.ok() || places > r.remaining().size() / 2) return false;
  const std::uint64_t end = to.plain_bytes != 0 ? to.plain_bytes : to.size_bytes;
  to.places.reserve(places);
  index_place at;
  for (std::uint64_t i = 0; i != places && r.ok(); ++i) {
    const std::uint64_t elements = r.number(), bytes = r.number();
    if (elements == 0 || elements > to.elements - at.element || bytes == 0 || bytes > end - at.offset) return false;
    at.element += elements;
    at.offset += bytes;
    to.places.push_back(at);
  }
  return r.ok() && (to.elements == 0 || at.element < to.elements);
}

}  // namespace

std::string kind_in(std::string_view kind, compression by) {
  return by == compression::none || kind.empty() ? std::string(kind)
                                                 : absl::StrCat(std::string(kind), " in ", std::string(to_string(by)));
}

std::string record_index::difference_from(const file_info& file, std::string_view of) const {
  if (kind != of)
    return absl::StrCat("it was built for elements of ", kind, ", and the reader wants ", std::string(of));
  if (size_bytes != file.size_bytes)
    return absl::StrCat("its file had ", size_bytes, " bytes when it was built, and has ", file.size_bytes);
  if (!version.empty() && !file.version.empty())
    return opaque_tag(version) == opaque_tag(file.version) ? std::string() : "its file was written to since";
  return modified_ns == file.modified_ns ? std::string() : "its file was written to since";
}

std::string index_bytes(const record_index& index) {
  position_writer w;
  w.raw(kIndexMagic.data(), kIndexMagic.size());
  w.text(index.kind);
  w.number(index.size_bytes);
  w.raw(&index.modified_ns, sizeof index.modified_ns);
  w.text(index.version);
  w.number(index.plain_bytes);
  w.number(index.elements);
  w.number(index.places.size());
  index_place before;
  for (const index_place& place : index.places) {
    w.number(place.element - before.element);
    w.number(place.offset - before.offset);
    before = place;
  }
  write_points(index.points, w);
  std::string bytes = w.bytes();
  const std::uint32_t crc = crc32c(bytes);
  return bytes.append(reinterpret_cast<const char*>(&crc), sizeof crc);
}

result<record_index> read_index(std::string_view bytes) {
  constexpr std::string_view kName = kIndexMagic.substr(0, kIndexMagic.size() - 1);
  if (!bytes.starts_with(kName)) return data_loss_error("this is no index of sluice");
  if (bytes.size() < kIndexMagic.size() + kIndexChecksumBytes) return damaged_index("it is cut off");
  if (bytes[kName.size()] != kIndexMagic.back())
    return failed_precondition_error("the index was written by another version of sluice");
  std::uint32_t crc = 0;
  std::memcpy(&crc, bytes.data() + bytes.size() - kIndexChecksumBytes, kIndexChecksumBytes);
  bytes.remove_suffix(kIndexChecksumBytes);
  if (crc != crc32c(bytes)) return damaged_index("its checksum does not match");
  position_reader r(bytes.substr(kIndexMagic.size()));
  record_index index;
  index.kind = r.text();
  index.size_bytes = r.number();
  r.raw(&index.modified_ns, sizeof index.modified_ns);
  index.version = r.text();
  index.plain_bytes = r.number();
  index.elements = r.number();
  if (!r.ok() || !read_places(r, index)) return damaged_index("its places do not fit");
  if (!read_points(r, index)) return damaged_index("its places within the compressed file do not fit");
  if (!r.done()) return damaged_index("bytes follow its end");
  return index;
}

void index_builder::begin(std::uint64_t size_bytes) {
  const bool is_small = size_bytes != 0 && size_bytes / kPlacesOfSmallFile < kSpacingMax;
  spacing_bytes_ = is_small ? std::max(kSpacingMin, size_bytes / kPlacesOfSmallFile) : kSpacingMax;
}

void index_builder::add(std::uint64_t element, std::uint64_t offset) {
  const std::uint64_t elements = element - before_.element, bytes = offset - before_.offset;
  before_ = {element, offset};
  const std::uint64_t last = places_.empty() ? 0 : places_.back().offset;
  if (element == 0 || offset == last) return;
  if (every_ != 0) {
    if (element % every_ == 0) places_.push_back(before_);
    return;
  }
  if (offset - last >= spacing_bytes_) places_.push_back(before_);
  if (elements == 0 || bytes == 0) return;
  // As many as fill the spacing, if they are as long as those before; but the next ones may be longer.
  const std::uint64_t to_fill =
      std::max<std::uint64_t>(1, spacing_bytes_ / std::max<std::uint64_t>(1, bytes / elements));
  at_once_ = std::min(to_fill, 2 * at_once_);
}

void index_builder::finish(std::uint64_t elements, record_index& to) {
  while (!places_.empty() && places_.back().element >= elements) places_.pop_back();
  to.elements = elements;
  to.places = std::move(places_);
}

}  // namespace sluice::lib
