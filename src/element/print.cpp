// SPDX-License-Identifier: Apache-2.0
// Elements as JSON text. By hand: a document per element would cost more than reading it from disk.
#include <charconv>
#include <cmath>

#include "element/print.hpp"

namespace sluice {

namespace {

/// Length of the well-formed UTF-8 sequence at s[0], 0 where there is none (RFC 3629: no surrogates, no overlong forms).
std::size_t utf8_length(std::string_view s) {
  auto byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  auto follows = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  unsigned b = byte(0), next = byte(1);
  if (b < 0x80) return 1;
  if (b >= 0xC2 && b <= 0xDF) return follows(1) ? 2 : 0;
  if (b >= 0xE0 && b <= 0xEF) {
    if ((b == 0xE0 && next < 0xA0) || (b == 0xED && next > 0x9F)) return 0;
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (b >= 0xF0 && b <= 0xF4) {
    if ((b == 0xF0 && next < 0x90) || (b == 0xF4 && next > 0x8F)) return 0;
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

void append_escape(unsigned char c, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: out += "\\u00"; out += kHex[c >> 4]; out += kHex[c & 15];
  }
}

template <class T>
void append_number(T v, std::string& out) {
  char text[32];
  auto end = std::to_chars(text, text + sizeof text, v).ptr;
  out.append(text, end);
}

template <class T>
void append_real(T v, std::string& out) {
  if (std::isfinite(v)) append_number(v, out);
  else out += std::isnan(v) ? "\"nan\"" : v > 0 ? "\"inf\"" : "\"-inf\"";   // JSON has no words for them
}

}  // namespace

void print_json_string(std::string_view text, std::string& out) {
  out += '"';
  std::size_t plain = 0;                    // start of what can be copied as it is
  for (std::size_t i = 0; i < text.size();) {
    auto c = static_cast<unsigned char>(text[i]);
    auto length = c < 0x80 ? 1 : utf8_length(text.substr(i));
    if (length != 0 && c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) {
      i += length;
      continue;
    }
    out.append(text, plain, i - plain);
    append_escape(c, out);
    plain = ++i;
  }
  out.append(text, plain);
  out += '"';
}

void print(const element_type& t, const void* p, std::string& out) { t.print(t, p, out); }

namespace detail {

void print_scalar(std::int64_t v, std::string& out) { append_number(v, out); }
void print_scalar(std::uint64_t v, std::string& out) { append_number(v, out); }
void print_scalar(float v, std::string& out) { append_real(v, out); }
void print_scalar(double v, std::string& out) { append_real(v, out); }
void print_scalar(bool v, std::string& out) { out += v ? "true" : "false"; }

void print_text(const element_type& t, const void* p, std::string& out) { print_json_string(t.text(p), out); }

void print_array(const element_type& element, const void* p, std::size_t n, std::string& out) {
  out += '[';
  for (std::size_t i = 0; i != n; ++i) {
    if (i != 0) out += ',';
    element.print(element, static_cast<const char*>(p) + i * element.size, out);
  }
  out += ']';
}

void print_extent(const element_type& t, const void* p, std::string& out) { print_array(*t.element, p, t.extent, out); }

void print_members(const element_type& t, const void* p, std::string& out) {
  bool named = t.kind == kind::structure;
  char before = named ? '{' : '[';
  for (auto& m : t.members) {
    out += before;
    before = ',';
    if (named) {
      print_json_string(m.name, out);
      out += ':';
    }
    m.type->print(*m.type, static_cast<const char*>(p) + m.offset, out);
  }
  if (t.members.empty()) out += named ? "{" : "[";
  out += named ? '}' : ']';
}

void print_opaque(const element_type& t, const void*, std::string& out) { print_json_string("<" + t.name + ">", out); }

}  // namespace detail

}  // namespace sluice
