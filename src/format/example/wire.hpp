// SPDX-License-Identifier: Apache-2.0
// Reads the protobuf wire format within the given bytes.
//
// Every read returns false if the bytes are invalid, and does not move then. The rules are protobuf's own (3.21): at
// most five bytes for tags and sizes, ten for varints, no field 0, groups matched.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace sluice::lib::detail {

enum wire_type : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kGroup = 3, kGroupEnd = 4, kFixed32 = 5 };

constexpr std::uint32_t tag_of(std::uint32_t field, wire_type type) noexcept { return field << 3 | type; }

class wire_reader {
 public:
  explicit wire_reader(std::string_view bytes) noexcept : p_(bytes.data()), end_(p_ + bytes.size()) {}

  bool done() const noexcept { return p_ == end_; }
  std::size_t rest() const noexcept { return static_cast<std::size_t>(end_ - p_); }
  const char* position() const noexcept { return p_; }

  bool tag(std::uint32_t& tag) noexcept {
    std::uint64_t wide;
    if (!varint(wide, 5)) return false;
    tag = static_cast<std::uint32_t>(wide);
    return tag >> 3 != 0;
  }
  bool varint(std::uint64_t& value) noexcept { return varint(value, 10); }
  bool bytes(std::string_view& value) noexcept {
    std::uint64_t size;
    const char* before = p_;
    if (!varint(size, 5) || size > rest()) {
      p_ = before;
      return false;
    }
    value = {p_, static_cast<std::size_t>(size)};
    p_ += size;
    return true;
  }
  bool fixed(std::size_t size, const char*& value) noexcept {
    if (size > rest()) return false;
    value = p_;
    p_ += size;
    return true;
  }
  /// Skips the unwanted field whose tag was read.
  bool skip(std::uint32_t tag, int depth = 0) noexcept {
    std::uint64_t number;
    std::string_view text;
    const char* raw;
    switch (tag & 7) {
      case kVarint: return varint(number);
      case kFixed64: return fixed(8, raw);
      case kBytes: return bytes(text);
      case kFixed32: return fixed(4, raw);
      case kGroup: return skip_group(tag >> 3, depth + 1);
      default: return false;
    }
  }

 private:
  static constexpr int kDepthMax = 100;  // protobuf's

  bool varint(std::uint64_t& value, int bytes_max) noexcept {
    if (p_ != end_ && !(*p_ & 0x80)) [[likely]] {
      value = static_cast<unsigned char>(*p_++);
      return true;
    }
    const char* p = p_;
    value = 0;
    for (int i = 0; i < bytes_max && p != end_; ++i) {
      auto byte = static_cast<unsigned char>(*p++);
      value |= std::uint64_t{byte & 0x7fu} << (7 * i);
      if (!(byte & 0x80)) {
        p_ = p;
        return true;
      }
    }
    return false;
  }
  bool skip_group(std::uint32_t field, int depth) noexcept {
    if (depth > kDepthMax) return false;
    std::uint32_t inner;
    while (tag(inner)) {
      if (inner == tag_of(field, kGroupEnd)) return true;
      if (!skip(inner, depth)) return false;
    }
    return false;
  }

  const char* p_;
  const char* const end_;
};

}  // namespace sluice::lib::detail
