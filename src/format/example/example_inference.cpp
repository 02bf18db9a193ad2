// SPDX-License-Identifier: Apache-2.0
#include "format/example/example_inference.hpp"

#include <algorithm>

#include "sluice/format/example.hpp"

namespace sluice::lib {
namespace {

constexpr std::string_view kPlainLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";  // characters that a schema need not quote

/// Returns "label", or "f3 = 'a: b'" if the name cannot be that of a member.
std::string member_text(const std::string& name, std::size_t number) {
  if (!name.empty() && name.find_first_not_of(kPlainLetters) == name.npos) return name;
  std::string text = "f" + std::to_string(number) + " = '";
  constexpr const char* kHex = "0123456789abcdef";
  for (unsigned char c : name) {
    if (c == '\'' || c == '\\') text += '\\';
    if (c < 0x20 || c == 0x7f) (text += "\\x") += {kHex[c >> 4], kHex[c & 15]};
    else text += static_cast<char>(c);
  }
  return text + "'";
}

}  // namespace

status example_inference::add(std::string_view record) {
  auto features = read_example(record);
  if (!features.ok()) return features.why();
  ++examples_;
  for (auto& [name, values] : *features) {
    if (values.kind == feature_kind::none) continue;  // tf.data writes a missing feature like this
    seen& s = features_[name];
    if (s.examples != 0 && s.kind != values.kind)
      return invalid_argument_error("feature " + name + " is of " + std::string(to_string(values.kind)) +
                                    ", and before it was of " + std::string(to_string(s.kind)));
    const std::size_t n = values.size();
    s.kind = values.kind;
    s.least = s.examples == 0 ? n : std::min(s.least, n);
    s.most = std::max(s.most, n);
    ++s.examples;
  }
  return {};
}

std::string example_inference::schema_text() const {
  std::string text;
  std::size_t number = 0;
  for (auto& [name, s] : features_) {
    if (!text.empty()) text += ", ";
    text += member_text(name, number++) + ": ";
    text += s.kind == feature_kind::floats ? "float" : s.kind == feature_kind::int64s ? "int64" : "bytes";
    const bool is_fixed = s.least == s.most && s.least != 0;
    if (!is_fixed) text += "[]";
    else if (s.most != 1) text += "[" + std::to_string(s.most) + "]";
    if (s.examples != examples_) text += "?";
  }
  return text;
}

}  // namespace sluice::lib
