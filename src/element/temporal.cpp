// SPDX-License-Identifier: Apache-2.0
#include "element/temporal.hpp"

#include <algorithm>

#include "element/made_once.hpp"

namespace sluice::lib {

namespace {

constexpr std::size_t kZoneBytesMax = 64;

struct temporal_form {
  temporal_unit::form is;
  std::string_view name;
  std::string_view units;  ///< the allowed ones; empty: the name states the unit
  std::string_view alias;
};
constexpr temporal_form kTemporalForms[] = {
    {temporal_unit::form::timestamp, "timestamp", "smun", ""},
    {temporal_unit::form::date32, "date32", "", "date32[day]"},
    {temporal_unit::form::date64, "date64", "", "date64[ms]"},
    {temporal_unit::form::time32, "time32", "sm", ""},
    {temporal_unit::form::time64, "time64", "un", ""},
    {temporal_unit::form::duration, "duration", "smun", ""},
};

std::string_view temporal_unit_name(char unit) {
  switch (unit) {
    case 's': return "s";
    case 'm': return "ms";
    case 'u': return "us";
    default: return "ns";
  }
}

const temporal_form& temporal_form_of(const temporal_unit& u) {
  return *std::find_if(std::begin(kTemporalForms), std::end(kTemporalForms),
                       [&](const temporal_form& f) { return f.is == u.is; });
}

bool is_time_zone(std::string_view zone) {
  return zone.size() <= kZoneBytesMax && std::all_of(zone.begin(), zone.end(), [](char c) {
           return c > ' ' && c < '\x7F' && c != ']' && c != '[' && c != '"' && c != ',' && c != '\\';
         });
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Reads "us" or "us, UTC".
bool read_temporal_unit(std::string_view text, const temporal_form& f, temporal_unit& to) {
  const std::size_t comma = text.find(',');
  const std::string_view unit = without_spaces(text.substr(0, comma));
  auto found = std::find_if(f.units.begin(), f.units.end(), [&](char c) { return temporal_unit_name(c) == unit; });
  if (found == f.units.end()) return false;
  to.is = f.is;
  to.unit = *found;
  to.zone.clear();
  if (comma == text.npos) return true;
  std::string_view zone = without_spaces(text.substr(comma + 1));
  if (zone.starts_with("tz=")) zone.remove_prefix(3);
  to.zone = zone;
  return f.is == temporal_unit::form::timestamp && !zone.empty() && is_time_zone(zone);
}

}  // namespace

bool read_temporal_name(std::string_view name, temporal_unit& to) {
  for (const temporal_form& f : kTemporalForms) {
    if (f.units.empty() && (name == f.name || name == f.alias)) {
      to = {.is = f.is};
      return true;
    }
    const bool has_unit = !f.units.empty() && name.size() > f.name.size() + 2 && name.starts_with(f.name) &&
                          name[f.name.size()] == '[' && name.back() == ']';
    if (has_unit) return read_temporal_unit(name.substr(f.name.size() + 1, name.size() - f.name.size() - 2), f, to);
  }
  return false;
}

std::string temporal_name(const temporal_unit& u) {
  const temporal_form& f = temporal_form_of(u);
  std::string text(f.name);
  if (f.units.empty()) return text;
  text.append("[").append(temporal_unit_name(u.unit));
  if (!u.zone.empty()) text.append(", ").append(u.zone);
  return text + ']';
}

const element_type* temporal_type(const temporal_unit& u) {
  const temporal_form& f = temporal_form_of(u);
  if (!f.units.empty() && f.units.find(u.unit) == f.units.npos) return nullptr;
  if (!is_time_zone(u.zone) || (!u.zone.empty() && u.is != temporal_unit::form::timestamp)) return nullptr;
  const std::string name = temporal_name(u);
  return detail::made_once("temporal " + name, &type_of<std::int64_t>(), 0, [&] {
    element_type t = type_of<std::int64_t>();
    t.name = name;
    return t;
  });
}

const element_type* temporal_type(std::string_view name) {
  temporal_unit u;
  return read_temporal_name(name, u) ? temporal_type(u) : nullptr;
}

bool temporal_of(const element_type& t, temporal_unit& to) {
  if (t.kind != kind::scalar || t.print != type_of<std::int64_t>().print || &t == &type_of<std::int64_t>())
    return false;
  return read_temporal_name(t.name, to) && temporal_type(to) == &t;
}

}  // namespace sluice::lib
