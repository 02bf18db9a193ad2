// SPDX-License-Identifier: Apache-2.0
#include "service/wire/element_frames.hpp"

#include <absl/strings/str_cat.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "sluice/element/serialise.hpp"

namespace sluice::lib {
namespace {

std::string frame_head(element_frame::kind what, std::uint64_t first) {
  std::string bytes(1, what);
  append_frame_number(first, bytes);
  return bytes;
}

}  // namespace

void append_frame_number(std::uint64_t n, std::string& to) {
  for (; n >= 0x80; n >>= 7) to += static_cast<char>(n | 0x80);
  to += static_cast<char>(n);
}

bool take_frame_number(std::string_view& from, std::uint64_t& n) {
  n = 0;
  for (int shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    n |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return shift != 63 || byte <= 1;
  }
  return false;
}

void frame_maker::add(const block& elements) {
  if (elements.empty()) return;
  if (bytes_.empty()) {
    bytes_ += static_cast<char>(element_frame::elements);
    append_frame_number(next_, bytes_);
  }
  append_frame_number(elements.size(), bytes_);
  const std::size_t at = bytes_.size();
  bytes_.append(sizeof(std::uint32_t), '\0');  // the number of bytes, when it is known
  serialise_elements(type_, elements.data(), elements.size(), bytes_);
  const auto size = static_cast<std::uint32_t>(bytes_.size() - at - sizeof(std::uint32_t));
  std::memcpy(bytes_.data() + at, &size, sizeof size);
  next_ += elements.size();
}
slice frame_maker::take() {
  slice frame = slice::copy_of(bytes_);
  clear();
  return frame;
}

std::string keepalive_frame() { return frame_head(element_frame::keepalive, 0); }
std::string end_frame(std::uint64_t elements, const std::vector<dropped_elements>& dropped) {
  std::string bytes = frame_head(element_frame::end, elements);
  if (dropped.empty()) return bytes;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const dropped_elements& d : dropped)
    all.push_back({{"stage", d.stage}, {"errors", d.errors}, {"first", status_json(d.first)}});
  return bytes + all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}
std::string failure_frame(std::uint64_t at, const status& why) {
  return frame_head(element_frame::failure, at) + status_json(why);
}

result<element_frame> element_frame::read(std::string_view bytes) {
  element_frame f;
  const char what = bytes.empty() ? '\0' : bytes.front();
  const bool is_known = (what >= elements && what <= keepalive) || what == dropped_ones;
  if (!is_known) return data_loss_error("a frame of elements that begins with no kind");
  f.what = static_cast<kind>(what);
  bytes.remove_prefix(1);
  if (!take_frame_number(bytes, f.first)) return data_loss_error("a frame of elements that ends within a number");
  f.rest = bytes;
  if (f.what != failure) return f;
  status damage = read_status(bytes, f.why);
  if (!damage.ok()) return damage;
  if (f.why.ok()) return data_loss_error("a frame of a failure without an error");
  return f;
}

std::vector<dropped_elements> element_frame::dropped() const {
  std::vector<dropped_elements> all;
  const auto list = nlohmann::ordered_json::parse(rest, nullptr, false);
  if (!list.is_array()) return all;
  for (const auto& each : list) {
    if (!each.is_object() || !each.contains("stage") || !each.contains("errors") || !each.contains("first")) continue;
    if (!each["stage"].is_string() || !each["errors"].is_number_unsigned() || !each["first"].is_string()) continue;
    dropped_elements d{each["stage"].get<std::string>(), each["errors"].get<std::uint64_t>(), {}};
    if (!read_status(each["first"].get<std::string>(), d.first).ok() || d.first.ok()) continue;
    all.push_back(std::move(d));
  }
  return all;
}

status element_frame::parse(buffer* owner, slab& to) const {
  std::string_view left = rest;
  while (!left.empty()) {
    std::uint64_t n = 0;
    std::uint32_t size = 0;
    if (!take_frame_number(left, n) || left.size() < sizeof size)
      return data_loss_error("a frame of elements that ends within a block");
    std::memcpy(&size, left.data(), sizeof size);
    left.remove_prefix(sizeof size);
    if (size > left.size()) return data_loss_error("a frame of elements that ends within a block");
    status why = parse_elements(left.substr(0, size), n, owner, to);
    if (!why.ok()) return why;
    left.remove_prefix(size);
  }
  return {};
}

std::string status_json(const status& why) {
  nlohmann::ordered_json all = {{"code", static_cast<int>(why.code())}, {"message", why.message()}};
  const provenance& at = why.where();
  if (!at.stage.empty()) all["stage"] = at.stage;
  if (!at.file.empty()) all["file"] = at.file;
  if (at.offset_bytes != provenance::kUnknown) all["offset"] = at.offset_bytes;
  if (at.record_index != provenance::kUnknown) all["record"] = at.record_index;
  if (at.element != provenance::kUnknown) all["element"] = at.element;
  if (why.is_element_limit()) all["is_element_limit"] = true;
  return all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

status read_status(std::string_view text, status& to) {
  const auto all = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!all.is_object() || !all.contains("code") || !all["code"].is_number_unsigned())
    return invalid_argument_error("not a status: a JSON object with a code is expected");
  const auto words = [&all](const char* name) {
    const auto found = all.find(name);
    return found != all.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto number = [&all](const char* name) {
    const auto found = all.find(name);
    return found != all.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : provenance::kUnknown;
  };
  const auto code = all["code"].get<std::uint64_t>();
  to = {};
  if (code == 0) return {};
  const bool is_limit = all.value("is_element_limit", false);
  to = is_limit ? element_limit_error(words("message"))
                : status(code <= 16 ? static_cast<status_code>(code) : status_code::unknown, words("message"));
  if (const std::string file = words("file"); !file.empty()) to = to.in_file(file, number("offset"), number("record"));
  if (const std::string stage = words("stage"); !stage.empty()) to = to.in_stage(stage, number("element"));
  return {};
}

}  // namespace sluice::lib
