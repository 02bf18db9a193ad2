// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/base/utf8.hpp"
#include "sluice/format/example.hpp"

namespace sluice {
namespace {

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

void append_value(std::string& out, const std::string& bytes) {
  if (is_utf8(bytes)) out += quoted(bytes);
  else absl::StrAppend(&out, "{\"base64\": \"", absl::Base64Escape(bytes), "\"}");
}
void append_value(std::string& out, std::int64_t value) { absl::StrAppend(&out, value); }
/// The shortest digits that give the same float back.
void append_value(std::string& out, float value) {
  if (std::isnan(value)) {
    out += "\"NaN\"";
    return;
  }
  if (std::isinf(value)) {
    out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    return;
  }
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

template <class V> void append_values(std::string& out, const std::vector<V>& values) {
  if (values.size() == 1) {
    append_value(out, values[0]);
    return;
  }
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    append_value(out, values[i]);
  }
  out += ']';
}

void append_feature(std::string& out, const feature_values& feature) {
  switch (feature.kind) {
    case feature_kind::none: out += "null"; return;
    case feature_kind::bytes: append_values(out, feature.bytes); return;
    case feature_kind::floats: append_values(out, feature.floats); return;
    case feature_kind::int64s: append_values(out, feature.int64s); return;
  }
}

}  // namespace

result<std::string> example_to_json(std::string_view example) {
  auto features = read_example(example);
  if (!features.ok()) return features.why();
  std::string out = "{";
  for (auto& [name, feature] : *features) {
    if (out.size() > 1) out += ", ";
    append_value(out, name);
    out += ": ";
    append_feature(out, feature);
  }
  return out + "}";
}

}  // namespace sluice
