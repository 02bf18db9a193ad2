// SPDX-License-Identifier: Apache-2.0
#include "arrow/formats.hpp"

#include <array>
#include <utility>

#include "sluice/element/slice.hpp"

namespace sluice::lib::arrow {

// An enum is printed as its number is, and has its size.
bool is_bool(const element_type& t) { return t.kind == kind::scalar && t.print == type_of<bool>().print; }

const char* number_format(const element_type& t) {
  static const std::array<std::pair<const element_type*, const char*>, 11> formats = {{
      {&type_of<std::int8_t>(), "c"},
      {&type_of<std::uint8_t>(), "C"},
      {&type_of<std::int16_t>(), "s"},
      {&type_of<std::uint16_t>(), "S"},
      {&type_of<std::int32_t>(), "i"},
      {&type_of<std::uint32_t>(), "I"},
      {&type_of<std::int64_t>(), "l"},
      {&type_of<std::uint64_t>(), "L"},
      {&type_of<float>(), "f"},
      {&type_of<double>(), "g"},
      {&type_of<bool>(), "b"},
  }};
  for (auto& [number, format] : formats)
    if (t.print == number->print && t.size == number->size) return format;
  return nullptr;
}

bool becomes_utf8(const element_type& text, const arrow_options& o) {
  if (o.texts != arrow_texts::by_type) return o.texts == arrow_texts::utf8;
  return &text == &type_of<std::string>() || &text == &type_of<line>();
}

std::string place::to_string() const {
  std::string text = above ? above->to_string() : std::string();
  if (!text.empty() && !name.empty() && name != "[]") text += '.';
  return text.append(name);
}

std::string at(const place& p, std::string_view what) {
  std::string where = p.to_string();
  std::string text = where.empty() ? std::string("the rows: ") : "column \"" + where + "\": ";
  return text.append(what);
}

}  // namespace sluice::lib::arrow
