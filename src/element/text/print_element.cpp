// SPDX-License-Identifier: Apache-2.0
// Prints elements as JSON text. Written by hand, because a document per element would cost more than reading it from
// disk.
#include <absl/strings/escaping.h>

#include <charconv>
#include <cmath>

#include "base/text/real_text.hpp"
#include "element/text/print_element.hpp"
#include "sluice/base/utf8.hpp"

namespace sluice::lib {

namespace {

void append_escape(unsigned char c, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default:
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
  }
}

template <class T> void append_number(T v, std::string& out) {
  char text[32];
  auto end = std::to_chars(text, text + sizeof text, v).ptr;
  out.append(text, end);
}

template <class T> void append_json_real(T v, std::string& out) {
  if (std::isfinite(v)) append_real(v, out);
  else out += std::isnan(v) ? "\"NaN\"" : v > 0 ? "\"Infinity\"" : "\"-Infinity\"";  // JSON has no numbers for them
}

/// Appends a string in quotes. Returns false, with `out` unchanged, if it is not UTF-8.
bool append_string(std::string_view text, std::string& out) {
  std::size_t before = out.size();
  out += '"';
  std::size_t plain = 0;  // the start of the bytes that can be copied unchanged
  for (std::size_t i = 0; i < text.size();) {
    auto c = static_cast<unsigned char>(text[i]);
    auto length = c < 0x80 ? 1 : utf8_length(text.substr(i));
    if (length == 0) {
      out.resize(before);
      return false;
    }
    if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) {
      i += length;
      continue;
    }
    out.append(text, plain, i - plain);
    append_escape(c, out);
    plain = ++i;
  }
  out.append(text, plain);
  out += '"';
  return true;
}

constexpr std::string_view kBase64 = "base64";

std::string base64_of(std::string_view bytes) { return absl::Base64Escape({bytes.data(), bytes.size()}); }

}  // namespace

void print_json_text(std::string_view text, std::string& out) {
  if (append_string(text, out)) return;
  out.append("{\"").append(kBase64).append("\":\"").append(base64_of(text)).append("\"}");
}

void print_json_name(std::string_view name, std::string& out) {
  bool looks_escaped = name.starts_with(kBase64) && name.substr(kBase64.size()).starts_with(':');
  if (!looks_escaped && append_string(name, out)) return;
  out.append("\"").append(kBase64).append(":").append(base64_of(name)).append("\"");
}

void print(const element_type& t, const void* p, std::string& out) { t.print(t, p, out); }

namespace detail {

void print_scalar(std::int64_t v, std::string& out) { append_number(v, out); }
void print_scalar(std::uint64_t v, std::string& out) { append_number(v, out); }
void print_scalar(float v, std::string& out) { append_json_real(v, out); }
void print_scalar(double v, std::string& out) { append_json_real(v, out); }
void print_scalar(bool v, std::string& out) { out += v ? "true" : "false"; }

void print_text(const element_type& t, const void* p, std::string& out) { print_json_text(t.text(p), out); }

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
  print_members(t, out, [&](const member& m) {
    m.type->print(*m.type, static_cast<const char*>(p) + m.offset, out);
    return true;
  });
}

void print_opaque(const element_type& t, const void*, std::string& out) { print_json_text("<" + t.name + ">", out); }

}  // namespace detail

}  // namespace sluice::lib
