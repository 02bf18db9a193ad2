// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "base/varint.hpp"
#include "format/example/wire.hpp"
#include "sluice/format/example.hpp"

namespace sluice::lib {
namespace {

using detail::append_varint;
using detail::kBytes;
using detail::tag_of;
using detail::varint_size;

/// Appends the tag and size of a field of `size` bytes, which follow.
void append_field(std::string& out, std::uint32_t field, std::size_t size) {
  append_varint(tag_of(field, kBytes), out);
  append_varint(size, out);
}
std::size_t field_size(std::size_t size) { return 1 + varint_size(size) + size; }

}  // namespace

// A message's size precedes it, so sizes are computed from the inside: list, feature, entry.
void example_writer::entry(std::string_view name, feature_kind kind, std::size_t list_bytes) {
  const std::size_t feature_bytes = field_size(list_bytes);
  append_field(features_, 1, field_size(name.size()) + field_size(feature_bytes));
  append_field(features_, 1, name.size());
  features_ += name;
  append_field(features_, 2, feature_bytes);
  append_field(features_, static_cast<std::uint32_t>(kind), list_bytes);
}

example_writer& example_writer::bytes(std::string_view name, std::string_view value) {
  entry(name, feature_kind::bytes, field_size(value.size()));
  append_field(features_, 1, value.size());
  features_ += value;
  return *this;
}

example_writer& example_writer::bytes_list(std::string_view name, const std::vector<std::string>& values) {
  list_.clear();
  for (auto& v : values) {
    append_field(list_, 1, v.size());
    list_ += v;
  }
  entry(name, feature_kind::bytes, list_.size());
  features_ += list_;
  return *this;
}

example_writer& example_writer::int64s(std::string_view name, const std::int64_t* values, std::size_t count) {
  std::size_t packed = 0;
  for (std::size_t i = 0; i < count; ++i) packed += varint_size(static_cast<std::uint64_t>(values[i]));
  entry(name, feature_kind::int64s, count == 0 ? 0 : field_size(packed));
  if (count == 0) return *this;
  append_field(features_, 1, packed);
  for (std::size_t i = 0; i < count; ++i) append_varint(static_cast<std::uint64_t>(values[i]), features_);
  return *this;
}

example_writer& example_writer::floats(std::string_view name, const float* values, std::size_t count) {
  const std::size_t packed = count * sizeof(float);
  entry(name, feature_kind::floats, count == 0 ? 0 : field_size(packed));
  if (count == 0) return *this;
  append_field(features_, 1, packed);
  features_.append(reinterpret_cast<const char*>(values), packed);  // little-endian, as on the wire
  return *this;
}

std::string_view example_writer::finish() {
  example_.clear();
  append_field(example_, 1, features_.size());
  example_ += features_;
  features_.clear();
  return example_;
}

}  // namespace sluice::lib
