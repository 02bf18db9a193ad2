// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/type_text.hpp"

#include "absl/strings/str_cat.h"
#include "element/scalars.hpp"
#include "element/temporal.hpp"
#include "element/text/scan_text.hpp"
#include "sluice/base/utf8.hpp"

namespace sluice::lib {

namespace detail {

bool is_identifier(std::string_view s) {
  if (s.empty() || absl::ascii_isdigit(static_cast<unsigned char>(s[0]))) return false;
  for (char c : s)
    if (!is_name_char(c)) return false;
  return true;
}

void append_name(std::string_view name, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  if (is_identifier(name)) {
    out += name;
    return;
  }
  bool readable = is_utf8(name);
  out += '"';
  for (char c : name) {
    auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20 || u == 0x7F || (u >= 0x80 && !readable)) {
      out += "\\x";
      out += kHex[u >> 4];
      out += kHex[u & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace detail

namespace {

void append_list_of(const element_type& t, std::string& out) {
  for (auto& m : t.members) {
    if (&m != &t.members.front()) out += ", ";
    append_type_text(*m.type, out);
  }
}

/// Returns false for a structure that was built without a name: its name is its text.
bool has_own_name(const element_type& t) { return !t.name.empty() && t.name.front() != '{'; }

}  // namespace

void append_type_text(const element_type& t, std::string& out) {
  switch (t.kind) {
    case kind::scalar: {
      if (temporal_unit u; temporal_of(t, u)) {
        out += t.name;
        return;
      }
      const element_type& number = detail::number_of(t);
      detail::append_name(t.name, out);
      if (&number != &t) absl::StrAppend(&out, "<", number.name, ">");
      return;
    }
    case kind::array:
      append_type_text(*t.element, out);
      absl::StrAppend(&out, "[", t.extent, "]");
      return;
    case kind::list:
      append_type_text(*t.element, out);
      out += "[]";
      return;
    case kind::maybe:
      append_type_text(*t.element, out);
      out += '?';
      return;
    case kind::batch:
      out += "batch<";
      append_type_text(*t.element, out);
      out += '>';
      return;
    case kind::pair:
    case kind::tuple:
      out += t.kind == kind::pair || t.members.size() > 2 ? "(" : "tuple(";
      append_list_of(t, out);
      out += ')';
      return;
    case kind::structure:
      if (has_own_name(t)) detail::append_name(t.name, out);
      out += '{';
      for (auto& m : t.members) {
        if (&m != &t.members.front()) out += ", ";
        detail::append_name(m.name, out);
        out += ": ";
        append_type_text(*m.type, out);
      }
      out += '}';
      return;
    default: detail::append_name(t.name, out);
  }
}

std::string type_text(const element_type& t) {
  std::string out;
  append_type_text(t, out);
  return out;
}

bool is_same_type(const element_type& a, const element_type& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.size != b.size || a.align != b.align || a.members.size() != b.members.size()) return false;
  switch (a.kind) {
    case kind::scalar: return a.name == b.name && a.print == b.print;
    case kind::array: return a.extent == b.extent && is_same_type(*a.element, *b.element);
    case kind::list:
    case kind::maybe:
    case kind::batch: return is_same_type(*a.element, *b.element);
    case kind::structure:
      if (has_own_name(a) != has_own_name(b) || (has_own_name(a) && a.name != b.name)) return false;
      [[fallthrough]];
    case kind::pair:
    case kind::tuple:
      for (std::size_t k = 0; k != a.members.size(); ++k) {
        auto &m = a.members[k], &n = b.members[k];
        if (m.name != n.name || m.offset != n.offset || !is_same_type(*m.type, *n.type)) return false;
      }
      return true;
    default: return false;
  }
}

}  // namespace sluice::lib
