// SPDX-License-Identifier: Apache-2.0
#include "store/cache_frame.hpp"

#include "sluice/base/crc32c.hpp"

namespace sluice::lib {
namespace {

void put_frame_number(std::string& to, std::uint64_t value, int bytes) {
  for (int i = 0; i != bytes; ++i) to.push_back(static_cast<char>(value >> (8 * i)));
}
std::uint64_t frame_number(std::string_view frame, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- != 0;) value = value << 8 | static_cast<unsigned char>(frame[at + i]);
  return value;
}

}  // namespace

bool has_frame_magic(std::string_view bytes) { return bytes.size() >= 4 && frame_number(bytes, 0, 4) == kFrameMagic; }

std::string begin_of_frame(frame_header& h, std::string_view position, const std::vector<std::string_view>& elements) {
  h.position_bytes = static_cast<std::uint32_t>(position.size());
  h.element_bytes = 0;
  h.crc = crc32c(position);
  for (std::string_view part : elements) {
    h.element_bytes += static_cast<std::uint32_t>(part.size());
    h.crc = crc32c(part, h.crc);
  }
  std::string frame;
  frame.reserve(kFrameHeaderBytes + position.size());
  put_frame_number(frame, kFrameMagic, 4);
  put_frame_number(frame, static_cast<std::uint32_t>(h.kind), 4);
  put_frame_number(frame, h.ordinal, 8);
  put_frame_number(frame, h.count, 4);
  put_frame_number(frame, h.position_bytes, 4);
  put_frame_number(frame, h.element_bytes, 4);
  put_frame_number(frame, h.crc, 4);
  put_frame_number(frame, crc32c(frame), 4);
  frame.append(position);
  return frame;
}

std::string frame_of(frame_header& h, std::string_view position, std::string_view elements) {
  std::string frame = begin_of_frame(h, position, {elements});
  frame.append(elements);
  return frame;
}

bool parse_frame_header(std::string_view frame, frame_header& h) {
  if (frame.size() < kFrameHeaderBytes) return false;
  if (frame_number(frame, 0, 4) != kFrameMagic || frame_number(frame, 32, 4) != crc32c(frame.substr(0, 32)))
    return false;
  const std::uint64_t kind = frame_number(frame, 4, 4);
  if (kind < 1 || kind > 3) return false;
  h.kind = static_cast<frame_kind>(kind);
  h.ordinal = frame_number(frame, 8, 8);
  h.count = static_cast<std::uint32_t>(frame_number(frame, 16, 4));
  h.position_bytes = static_cast<std::uint32_t>(frame_number(frame, 20, 4));
  h.element_bytes = static_cast<std::uint32_t>(frame_number(frame, 24, 4));
  h.crc = static_cast<std::uint32_t>(frame_number(frame, 28, 4));
  return h.body_bytes() <= kFrameBodyBytesMax && (h.kind != frame_kind::block || h.count != 0);
}

}  // namespace sluice::lib
