// SPDX-License-Identifier: Apache-2.0
#include "service/wire/dropped_frames.hpp"

#include "service/wire/element_frames.hpp"

namespace sluice::lib {
namespace {

void append_frame_text(std::string_view text, std::string& to) {
  append_frame_number(text.size(), to);
  to += text;
}

bool take_frame_text(std::string_view& from, std::string_view& text) {
  std::uint64_t size = 0;
  if (!take_frame_number(from, size) || size > from.size()) return false;
  text = from.substr(0, size);
  from.remove_prefix(size);
  return true;
}

}  // namespace

std::string begin_dropped_frame(std::uint64_t first) {
  std::string frame(1, element_frame::dropped_ones);
  append_frame_number(first, frame);
  return frame;
}

void append_dropped(const dropped_element& e, std::string& frame) {
  append_frame_number(e.times, frame);
  append_frame_text(e.stage, frame);
  append_frame_text(e.path, frame);
  append_frame_text(status_json(e.why), frame);
  frame += e.bytes ? '\1' : '\0';
  if (e.bytes) append_frame_text(*e.bytes, frame);
}

status take_dropped(std::string_view& from, dropped_view& to) {
  const auto damage = [] { return data_loss_error("a frame of dropped elements that ends within one"); };
  std::string_view why;
  if (!take_frame_number(from, to.times) || !take_frame_text(from, to.stage) || !take_frame_text(from, to.path) ||
      !take_frame_text(from, why) || from.empty())
    return damage();
  to.has_bytes = from.front() == '\1';
  from.remove_prefix(1);
  if (to.has_bytes && !take_frame_text(from, to.bytes)) return damage();
  if (!read_status(why, to.why).ok() || to.why.ok() || to.times == 0)
    return data_loss_error("a frame of dropped elements without an error");
  return {};
}

}  // namespace sluice::lib
