// SPDX-License-Identifier: Apache-2.0
#include "base/text/plan_quotes.hpp"

namespace sluice::lib::detail {

void append_in_quotes(std::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (c == '\r') out += "\\r";
    else if (c == '"' || c == '\\') (out += '\\') += c;
    else if (u < 0x20 || u == 0x7F) ((out += "\\x") += kHex[u >> 4]) += kHex[u & 15];
    else out += c;
  }
  out += '"';
}

std::string in_quotes(std::string_view text) {
  std::string out;
  append_in_quotes(text, out);
  return out;
}

}  // namespace sluice::lib::detail
