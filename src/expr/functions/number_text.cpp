// SPDX-License-Identifier: Apache-2.0
// One spelling for each number, so that 0xFF and 255, and 1.50f and 1.5f, are one expression.
#include <charconv>

#include "base/text/real_text.hpp"
#include "expr/tree.hpp"

namespace sluice::lib::expressions {

namespace {

template <class T> std::string canonical_real(std::string_view s, std::string_view suffix) {
  T value{};
  auto r = std::from_chars(s.data(), s.data() + s.size(), value);
  if (r.ec != std::errc() || r.ptr != s.data() + s.size()) return std::string(s).append(suffix);
  std::string out;
  if (suffix.empty()) {
    append_real(value, out);
  } else {
    char text[32];
    out.assign(text, std::to_chars(text, text + sizeof text, value).ptr);
  }
  if (auto plus = out.find('+'); plus != out.npos) out.erase(plus, 1);
  return out.append(suffix);
}

}  // namespace

std::string canonical_number(std::string_view spelled) {
  std::string_view s = spelled;
  const bool is_hex = s.starts_with("0x");
  if (!is_hex && s.find_first_of(".ef") != s.npos)
    return s.back() == 'f' ? canonical_real<float>(s.substr(0, s.size() - 1), "f") : canonical_real<double>(s, "");
  const bool is_unsigned = s.back() == 'u';
  if (is_unsigned) s.remove_suffix(1);
  if (is_hex) s.remove_prefix(2);
  std::uint64_t v = 0;
  auto r = std::from_chars(s.data(), s.data() + s.size(), v, is_hex ? 16 : 10);
  if (r.ec != std::errc() || r.ptr != s.data() + s.size() || s.empty()) return std::string(spelled);
  return std::to_string(v) + (is_unsigned ? "u" : "");
}

}  // namespace sluice::lib::expressions
