// SPDX-License-Identifier: Apache-2.0
#include "arrow/ipc_formats.hpp"

#include <charconv>
#include <limits>

namespace sluice::lib::arrow {

namespace {

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

ipc_form ipc_form_of(std::string_view format) {
  using enum ipc_layout;
  if (format.starts_with("+w:")) return fixed_form(fixed_lists, ipc_width(format.substr(3)));
  if (format.starts_with("w:")) return fixed_form(fixed, ipc_width(format.substr(2)));
  if (format.starts_with("d:")) return decimal_form(format.substr(2));
  if (format.starts_with("t")) return temporal_form(format);
  if (format == "+s") return {members, 0};
  if (format == "+l" || format == "+m") return {lists, 4};
  if (format == "+L") return {lists, 8};
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
