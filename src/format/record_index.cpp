// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/record_index.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/files/entity_tag.hpp"
#include "sluice/base/crc32c.hpp"
#include "sluice/coro/position.hpp"

namespace sluice::lib {
namespace {

constexpr std::string_view kIndexMagic("sluice index\x01", 13);  // the last byte is the format's version
constexpr std::size_t kIndexChecksumBytes = 4;
/// Fewer places are never thinned out.
constexpr std::size_t kPlacesMin = std::size_t{1} << 13;
/// A read of this length costs little more than a shorter one.
constexpr std::uint64_t kSpacingMin = std::uint64_t{32} << 10;

status damaged_index(std::string_view what) {
  return data_loss_error(absl::StrCat("the index is damaged: ", std::string(what)));
}

}  // namespace

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
  w.number(index.elements);
  w.number(index.step);
  std::uint64_t before = 0;
  for (std::uint64_t place : index.places) {
    w.number(place - before);
    before = place;
  }
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
  index.elements = r.number();
  index.step = r.number();
  const std::uint64_t places = index.step == 0 || index.elements == 0 ? 0 : (index.elements - 1) / index.step;
  // A place takes at least a byte, so a forged number cannot cause a large allocation.
  if (!r.ok() || index.step == 0 || places > r.remaining().size()) return damaged_index("its numbers do not fit");
  index.places.reserve(places);
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i != places && r.ok(); ++i) {
    const std::uint64_t distance = r.number();
    if (distance == 0 || distance > index.size_bytes - at) return damaged_index("its places do not ascend");
    index.places.push_back(at += distance);
  }
  if (!r.ok() || !r.done()) return damaged_index("its numbers do not fit");
  return index;
}

void index_builder::add(std::uint64_t element, std::uint64_t offset) {
  if (element == 0 || element % step_ != 0) return;
  places_.push_back(offset);
  if (is_fixed_ || places_.size() < kPlacesMin || offset / places_.size() >= kSpacingMin) return;
  for (std::size_t i = 1; i < places_.size(); i += 2) places_[i / 2] = places_[i];
  places_.resize(places_.size() / 2);
  step_ *= 2;
}

void index_builder::finish(std::uint64_t elements, record_index& to) {
  const std::uint64_t places = elements == 0 ? 0 : (elements - 1) / step_;
  places_.resize(std::min<std::size_t>(places_.size(), static_cast<std::size_t>(places)));
  to.elements = elements;
  to.step = step_;
  to.places = std::move(places_);
}

}  // namespace sluice::lib
