// SPDX-License-Identifier: Apache-2.0
#include "arrow/formats.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "arrow/ipc_formats.hpp"
#include "element/temporal.hpp"
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

std::string scalar_format(const element_type& t) {
  using form = temporal_unit::form;
  temporal_unit u;
  const char* format = number_format(t);
  if (!temporal_of(t, u)) return format ? format : "";
  switch (u.is) {
    case form::timestamp: return std::string("ts") + u.unit + ":" + u.zone;
    case form::date32: return "tdD";
    case form::date64: return "tdm";
    case form::duration: return std::string("tD") + u.unit;
    default: return std::string("tt") + u.unit;
  }
}

const element_type* temporal_of_format(std::string_view format) {
  using form = temporal_unit::form;
  if (format == "tdD") return temporal_type({.is = form::date32});
  if (format == "tdm") return temporal_type({.is = form::date64});
  if (format.starts_with("ts") && format.size() >= 4 && format[3] == ':')
    return temporal_type({form::timestamp, format[2], std::string(format.substr(4))});
  if (format.size() != 3) return nullptr;
  const char unit = format[2];
  if (format.starts_with("tD")) return temporal_type({form::duration, unit, {}});
  if (!format.starts_with("tt")) return nullptr;
  return temporal_type({unit == 's' || unit == 'm' ? form::time32 : form::time64, unit, {}});
}

bool fits_number(const element_type& t, std::string_view format) {
  const char* ours = number_format(t);
  if (!ours) return false;
  if (format == ours || format == scalar_format(t)) return true;
  if (format == "e") return std::string_view(ours) == "f";
  temporal_unit u;
  if (temporal_of(t, u)) {
    const bool is_narrow = u.is == temporal_unit::form::date32 || u.is == temporal_unit::form::time32;
    return is_narrow && format == "i";
  }
  if (!temporal_of_format(format)) return false;
  const std::int64_t width = ipc_form_of(format).width;
  return std::string_view(ours) == "l" || (width == 4 && std::string_view(ours) == "i");
}

namespace {

/// For "d:19,10" and "d:19,10,256".
std::string decimal_words(std::string_view arguments) {
  const std::size_t first = arguments.find(','), second = arguments.find(',', first + 1);
  if (first == arguments.npos) return "decimal";
  const std::string bits(second == arguments.npos ? "128" : arguments.substr(second + 1));
  return "decimal" + bits + "(" + std::string(arguments.substr(0, first)) + ", " +
         std::string(arguments.substr(first + 1, second == arguments.npos ? second : second - first - 1)) + ")";
}

}  // namespace

std::string format_words(std::string_view format) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 31> names = {{
      {"n", "null"},
      {"b", "bool"},
      {"c", "int8"},
      {"C", "uint8"},
      {"s", "int16"},
      {"S", "uint16"},
      {"i", "int32"},
      {"I", "uint32"},
      {"l", "int64"},
      {"L", "uint64"},
      {"e", "float16"},
      {"f", "float32"},
      {"g", "float64"},
      {"z", "binary"},
      {"Z", "large_binary"},
      {"u", "utf8"},
      {"U", "large_utf8"},
      {"vz", "binary_view"},
      {"vu", "utf8_view"},
      {"+l", "list"},
      {"+L", "large_list"},
      {"+s", "struct"},
      {"+m", "map"},
      {"+vl", "list_view"},
      {"+vL", "large_list_view"},
      {"+r", "run_end_encoded"},
      {"tiM", "interval[months]"},
      {"tiD", "interval[days, ms]"},
      {"tin", "interval[months, days, ns]"},
      {"+us:", "sparse_union"},
      {"+ud:", "dense_union"},
  }};
  for (auto& [known, name] : names)
    if (known == format || (known.ends_with(':') && format.starts_with(known))) return std::string(name);
  if (const element_type* t = temporal_of_format(format)) return t->name;
  if (format.starts_with("d:")) return decimal_words(format.substr(2));
  if (format.starts_with("w:")) return "fixed_size_binary[" + std::string(format.substr(2)) + "]";
  if (format.starts_with("+w:")) return "fixed_size_list[" + std::string(format.substr(3)) + "]";
  return "the format \"" + std::string(format) + "\"";
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
