// SPDX-License-Identifier: Apache-2.0
#include "arrow/ipc_formats.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

namespace sluice::lib::arrow {

namespace {

constexpr std::size_t kTensorRankMax = 32;
constexpr std::int64_t kViewBytes = 16;

/// Returns the number at the end of "w:16" or "+w:16"; -1 if it is not a number.
std::int64_t ipc_width(std::string_view digits) {
  std::int64_t width = -1;
  auto read = std::from_chars(digits.data(), digits.data() + digits.size(), width);
  bool good = read.ec == std::errc() && read.ptr == digits.data() + digits.size() && width >= 0;
  return good && width <= std::numeric_limits<std::int32_t>::max() ? width : -1;
}

ipc_form fixed_form(ipc_layout layout, std::int64_t width) { return width < 0 ? ipc_form{} : ipc_form{layout, width}; }

/// For "d:19,10" and "d:19,10,256": 16 bytes unless the format states the bits.
ipc_form decimal_form(std::string_view arguments) {
  auto first = arguments.find(','), second = arguments.find(',', first + 1);
  if (first == arguments.npos) return {};
  std::int64_t bits = second == arguments.npos ? 128 : ipc_width(arguments.substr(second + 1));
  return bits > 0 && bits % 8 == 0 ? ipc_form{ipc_layout::fixed, bits / 8} : ipc_form{};
}

/// Dates, times, timestamps, durations and intervals.
ipc_form temporal_form(std::string_view format) {
  if (format == "tdD" || format == "tts" || format == "ttm" || format == "tiM") return {ipc_layout::fixed, 4};
  return {ipc_layout::fixed, format == "tin" ? 16 : 8};
}

}  // namespace

ipc_pairs ipc_pairs_of(const char* metadata) {
  ipc_pairs pairs;
  if (!metadata) return pairs;
  auto number = [&] {
    std::int32_t n = 0;
    std::memcpy(&n, metadata, sizeof n);
    metadata += sizeof n;
    return n;
  };
  auto text = [&] {
    const std::int32_t n = number();
    std::string t(metadata, static_cast<std::size_t>(std::max(n, 0)));
    metadata += t.size();
    return t;
  };
  for (std::int32_t left = number(); left > 0; --left) {
    std::string key = text();
    pairs.emplace_back(std::move(key), text());
  }
  return pairs;
}

std::string ipc_metadata_of(const ipc_pairs& pairs) {
  std::string out;
  auto put = [&](std::size_t n) {
    const auto size = static_cast<std::int32_t>(n);
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
  };
  put(pairs.size());
  for (const auto& [key, value] : pairs) {
    put(key.size());
    out += key;
    put(value.size());
    out += value;
  }
  return out;
}

std::optional<std::vector<std::int64_t>> ipc_tensor_shape(const ArrowSchema& s) {
  std::string name, text;
  for (auto& [key, value] : ipc_pairs_of(s.metadata)) {
    if (key == "ARROW:extension:name") name = value;
    if (key == "ARROW:extension:metadata") text = value;
  }
  if (name != "arrow.fixed_shape_tensor") return {};
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; });
  constexpr std::string_view kShape = "\"shape\":[";
  std::size_t at = text.find(kShape);
  if (at == text.npos || text.find("\"permutation\":[") != text.npos) return {};
  at += kShape.size();
  std::vector<std::int64_t> shape;
  for (const char* end = text.data() + text.size(); at < text.size() && text[at] != ']';) {
    std::int64_t n = 0;
    auto read = std::from_chars(text.data() + at, end, n);
    if (read.ec != std::errc() || n < 0) return {};
    shape.push_back(n);
    at = static_cast<std::size_t>(read.ptr - text.data());
    if (at < text.size() && text[at] == ',') ++at;
  }
  std::int64_t values = 1;
  for (std::int64_t n : shape) {
    if (n != 0 && values > std::numeric_limits<std::int32_t>::max() / n) return {};
    values *= n;
  }
  const ipc_form form = ipc_form_of(ipc_format_of(s));
  if (form.layout != ipc_layout::fixed_lists || form.width != values || shape.size() > kTensorRankMax) return {};
  return shape;
}

ipc_form ipc_form_of(std::string_view format) {
  using enum ipc_layout;
  if (format.starts_with("+w:")) return fixed_form(fixed_lists, ipc_width(format.substr(3)));
  if (format.starts_with("w:")) return fixed_form(fixed, ipc_width(format.substr(2)));
  if (format.starts_with("d:")) return decimal_form(format.substr(2));
  if (format.starts_with("t")) return temporal_form(format);
  if (format == "+s") return {members, 0};
  if (format == "+l" || format == "+m") return {lists, 4};
  if (format == "+L") return {lists, 8};
  if (format == "vu" || format == "vz") return {views, kViewBytes};
  if (format == "+vl") return {list_views, 4};
  if (format == "+vL") return {list_views, 8};
  if (format == "+r") return {runs, 0};
  if (format.starts_with("+us:")) return {sparse_union, 0};
  if (format.starts_with("+ud:")) return {dense_union, 0};
  if (format.size() != 1) return {};
  switch (format[0]) {
    case 'n': return {none, 0};
    case 'b': return {bits, 0};
    case 'c':
    case 'C': return {fixed, 1};
    case 's':
    case 'S':
    case 'e': return {fixed, 2};
    case 'i':
    case 'I':
    case 'f': return {fixed, 4};
    case 'l':
    case 'L':
    case 'g': return {fixed, 8};
    case 'u':
    case 'z': return {texts, 4};
    case 'U':
    case 'Z': return {texts, 8};
    default: return {};
  }
}

}  // namespace sluice::lib::arrow
