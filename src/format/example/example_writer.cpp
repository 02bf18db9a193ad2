// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "format/example/wire.hpp"
#include "sluice/format/example.hpp"

namespace sluice::lib {
namespace {

using detail::kBytes;
using detail::tag_of;

std::size_t varint_size(std::uint64_t v) {
  std::size_t n = 1;
  while (v >= 0x80) {
    v >>= 7;
    ++n;
  }
  return n;
}
void append_varint(std::string& out, std::uint64_t v) {
  for (; v >= 0x80; v >>= 7) out += static_cast<char>(v | 0x80);
  out += static_cast<char>(v);
}
/// Appends the tag and size of a field of `size` bytes, which follow.
void append_field(std::string& out, std::uint32_t field, std::size_t size) {
  append_varint(out, tag_of(field, kBytes));
  append_varint(out, size);
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
  for (std::size_t i = 0; i < count; ++i) append_varint(features_, static_cast<std::uint64_t>(values[i]));
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
