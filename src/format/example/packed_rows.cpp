// SPDX-License-Identifier: Apache-2.0
#include "format/example/packed_rows.hpp"

#include <algorithm>

#include "sluice/base/status.hpp"

namespace sluice::lib {
namespace {

/// More numbers than these are not stored in the fixed part, which exists before the example is known to have them.
constexpr std::size_t kInsideBytesMax = std::size_t{64} << 10;

}  // namespace

packed_layout::packed_layout(const example_schema& schema) {
  for (const feature_slot& slot : schema.slots()) {
    const bool is_text = slot.kind == feature_kind::bytes;
    const std::size_t each = slot.kind == feature_kind::floats ? sizeof(float) : sizeof(std::int64_t);
    const std::size_t left = kInsideBytesMax - std::min(kInsideBytesMax, fixed_bytes_);
    place p{.at = static_cast<std::uint32_t>(fixed_bytes_), .bytes = sizeof(header)};
    if (!is_text && !slot.is_optional && slot.length != feature_slot::kAny && slot.length <= left / each) {
      p.how = way::inside;
      p.bytes = static_cast<std::uint32_t>(slot.length * each);
    } else if (is_text && !slot.is_optional && slot.length == 1 && slot.form == field_form::single) {
      p.how = way::text;
    }
    fixed_bytes_ += p.bytes;
    places_.push_back(p);
  }
}

void packed_rows::grow(std::size_t n) {
  constexpr std::size_t kFirst = std::size_t{16} << 10, kMost = std::numeric_limits<std::int32_t>::max();
  if (n > kMost - size_) throw error(resource_exhausted_error("the values of records have more than 2 GiB"));
  buffer* larger = buffer::make(std::max({kFirst, size_ * 2, size_ + n}));
  if (bytes_) {
    std::memcpy(larger->data(), bytes_->data(), size_);
    bytes_->drop_references(1);
  }
  bytes_ = larger;
}

}  // namespace sluice::lib
