// SPDX-License-Identifier: Apache-2.0
// Frames, which caches consist of: magic, kind, ordinal, count, sizes, checksum of the body, checksum of these 32 bytes; then
// the body. Numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib {

inline constexpr std::uint32_t kFrameMagic = 0x3143'4c53;  // "SLC1"
inline constexpr std::size_t kFrameHeaderBytes = 36;
/// A frame with more bytes is damaged: a block closes after 1 MiB, and has at least one element.
inline constexpr std::uint64_t kFrameBodyBytesMax = std::uint64_t{3} << 30;

enum class frame_kind : std::uint32_t { head = 1, block = 2, end = 3 };

struct frame_header {
  frame_kind kind = frame_kind::block;
  std::uint64_t ordinal = 0;
  std::uint32_t count = 0, position_bytes = 0, element_bytes = 0, crc = 0;
  std::uint64_t body_bytes() const { return std::uint64_t{position_bytes} + element_bytes; }
};

/// Returns true if the bytes begin as a frame does.
bool has_frame_magic(std::string_view bytes);
/// Sets the sizes and the checksum of the header, and returns the frame without its elements.
std::string begin_of_frame(frame_header& h, std::string_view position, const std::vector<std::string_view>& elements);
/// Does the same, and returns the whole frame.
std::string frame_of(frame_header& h, std::string_view position, std::string_view elements);
/// Returns false if the first kFrameHeaderBytes bytes of the frame are not a header.
bool parse_frame_header(std::string_view frame, frame_header& h);

}  // namespace sluice::lib
